import { useEffect } from 'react';
import { newStore } from '../../../shared/store';
import styles from './Notice.module.css';

const notice = newStore('');

// announce shows the result of an action for some seconds. Screen readers read it out.
export const announce = (text: string) => notice.set(text);

export function Notice() {
  const text = notice.use();
  useEffect(() => {
    const timer = setTimeout(() => notice.set(''), 4000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className={styles.notice} role="status">
      {text && <p>{text}</p>}
    </div>
  );
}
