import { useEffect, useState, type ComponentType } from 'react';
import { unanswered } from '../api/faults';
import { FaultBox } from './FaultBox';

// later returns a component that is loaded when it is first shown. If that fails, as after an upgrade of the
// server, the page must be loaded again.
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(Loaded ? 'loaded' : 'loading');
    useEffect(() => {
      if (state !== 'loading') return;
      load().then(
        (loaded) => {
          Loaded = loaded;
          setState('loaded');
        },
        () => setState('failed'),
      );
    }, [state]);
    if (Loaded) return <Loaded {...props} />;
    return state === 'failed' ? <FaultBox faults={[unanswered()]} retry={() => location.reload()} /> : null;
  };
}
