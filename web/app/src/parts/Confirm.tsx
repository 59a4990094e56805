import { useId, useRef, useState } from 'react';
import type { Fault } from '../api/faults';
import { FaultBox } from './FaultBox';
import styles from './Confirm.module.css';

type Props = {
  label: string; // of the button that asks
  question: string;
  action: string; // the answer that goes on
  run: () => Promise<Fault[]>;
};

// Confirm is a button that asks before it runs an action that cannot be undone. The dialog closes if
// there are no faults.
export function Confirm({ label, question, action, run }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [faults, setFaults] = useState<Fault[]>([]);
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  async function confirm() {
    if (isBusy) return;
    setBusy(true);
    const faults = await run();
    setBusy(false);
    setFaults(faults);
    if (faults.length === 0) dialog.current?.close();
  }
  return (
    <>
      <button type="button" className="quiet" onClick={() => dialog.current!.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-labelledby={id}>
        <p id={id}>{question}</p>
        <FaultBox faults={faults} />
        <p className="buttons">
          <button type="button" className="danger" aria-disabled={isBusy} onClick={confirm}>
            {action}
          </button>
          <button type="button" onClick={() => dialog.current!.close()}>
            Cancel
          </button>
        </p>
      </dialog>
    </>
  );
}
