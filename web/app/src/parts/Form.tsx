import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { Fault } from '../api/faults';
import { FaultBox } from './FaultBox';
import { focusFault } from './Field';

type Props = {
  // submit sends the form, and returns its faults. With none, the form may be gone already.
  submit: () => Promise<Fault[]>;
  action: string; // the label of the button
  children: (faults: Fault[]) => ReactNode; // the fields
  beside?: ReactNode; // further buttons
  className?: string;
  takesFocus?: boolean; // the first field has the focus at first
};

// Form sends its fields, and shows all faults at once: those of a field beside it until it is changed,
// others on top. The focus goes to the first field with a fault. While the form is busy, it cannot be
// sent again.
export function Form({ submit, action, children, beside, className, takesFocus }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [faults, setFaults] = useState<Fault[]>([]);
  const [changed, setChanged] = useState<string[]>([]); // the names of fields, since the form was sent
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (takesFocus) form.current!.querySelector<HTMLElement>('input, textarea')!.focus();
  }, [takesFocus]);
  useLayoutEffect(() => focusFault(form.current), [faults]);

  async function send() {
    if (isBusy) return;
    setBusy(true);
    setFaults(await submit());
    setChanged([]);
    setBusy(false);
  }
  return (
    <form
      ref={form}
      className={className}
      noValidate
      aria-busy={isBusy}
      onInput={(event) => {
        const { name } = event.target as HTMLInputElement;
        if (!changed.includes(name)) setChanged([...changed, name]);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <FaultBox faults={faults.filter(({ field }) => !field)} retry={send} />
      {children(faults.filter(({ field }) => !changed.includes(field!)))}
      <p className="buttons">
        <button className="primary" aria-disabled={isBusy}>
          {action}
        </button>
        {beside}
      </p>
    </form>
  );
}
