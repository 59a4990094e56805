import { useEffect, useEffectEvent } from 'react';
import styles from './StaleNotice.module.css';

type Props = { isStale: boolean; isLoading: boolean; retry: () => void };

// StaleNotice tells readers that a list may lack what they have just changed. It loads the list
// again by itself once, after a second, and then when they ask.
export function StaleNotice({ isStale, isLoading, retry }: Props) {
  const loadAgain = useEffectEvent(retry);
  useEffect(() => {
    if (!isStale) return;
    const timer = setTimeout(() => loadAgain(), 1000);
    return () => clearTimeout(timer);
  }, [isStale]);
  if (!isStale) return null;
  return (
    <div className={styles.notice} role="status">
      <p>Your latest change may not be listed yet.</p>
      <button type="button" aria-disabled={isLoading} onClick={retry}>
        Load again
      </button>
    </div>
  );
}
