import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { browserStorage as storage } from '../../../shared/storage';
import { session } from './session';

type Draft<Values> = { values?: Values; key: string };

// useDraft returns the values of a form: the initial ones, until a reader changes them. The browser
// then keeps them for the reader's account until discard, and all tabs show them. The draft's key
// makes sending safe to repeat, and stays the same until discard or renewKey. keep keeps values and
// key before they are sent. isOld tells that the reader changed the values before the form was
// opened.
export function useDraft<Values extends object>(name: string, initial: Values) {
  const storageKey = `cosmosblog.draft/${session.use().account?.name ?? ''}/${name}`;
  const follow = useCallback((changed: () => void) => storage.follow(storageKey, changed), [storageKey]);
  const text = useSyncExternalStore(follow, () => storage.get(storageKey));
  const { values, key } = useMemo(
    () => storage.read<Draft<Values>>(storageKey) ?? { key: crypto.randomUUID() as string },
    [storageKey, text],
  );
  const wasKept = useMemo(() => text !== null, [storageKey]);

  // The reader may have typed on while an answer came, so a change starts from the latest draft.
  function change(changes: Partial<Values>, newKey?: string) {
    const latest = storage.read<Draft<Values>>(storageKey) ?? { key };
    const next = { values: { ...(latest.values ?? initial), ...changes }, key: newKey ?? latest.key };
    storage.set(storageKey, JSON.stringify(next));
  }
  return {
    values: values ?? initial,
    key,
    isOld: wasKept && text !== null,
    change: (changes: Partial<Values>) => change(changes),
    keep: () => change({}),
    renewKey: () => change({}, crypto.randomUUID()),
    discard: () => storage.set(storageKey, null),
  };
}
