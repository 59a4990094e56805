import type { Fault } from '../api/faults';
import { Warning } from './Icons';
import styles from './FaultBox.module.css';

// FaultBox shows faults that belong to no field, and a button to try again if that can help.
export function FaultBox({ faults, retry }: { faults: Fault[]; retry?: () => void }) {
  const canRetry = retry && faults.some(({ isTemporary }) => isTemporary);
  if (faults.length === 0) return null;
  return (
    <div className={styles.box} role="alert">
      <Warning />
      <p>{[...new Set(faults.map(({ message }) => message))].join(' ')}</p>
      {canRetry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
