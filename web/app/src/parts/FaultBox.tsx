import { useEffect } from 'react';
import type { Fault } from '../api/faults';
import { Warning } from './Icons';
import styles from './FaultBox.module.css';

// FaultBox shows faults that belong to no field, and a way on. It retries by itself once the browser
// is online again.
export function FaultBox({ faults, retry }: { faults: Fault[]; retry?: () => void }) {
  const canRetry = retry && faults.some(({ isTemporary }) => isTemporary);
  useEffect(() => {
    if (!canRetry) return;
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  });
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
