import { useId, useState } from 'react';
import type { Fault } from '../api/faults';
import { Warning } from './Icons';
import styles from './Field.module.css';

type Props = {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  faults: Fault[];
  hint?: string;
  isLong?: boolean;
  className?: string;
  autoComplete?: string;
  autoCapitalize?: 'none';
};

// insertLimit is the number of characters that the longest field can have: 256 KiB of UTF-8. A browser
// can hardly lay out much longer texts, nor keep them as drafts.
const insertLimit = 256 * 1024;
const number = new Intl.NumberFormat('en');

// Field is an input with its label, and its faults beside it. It is a text area if isLong. It refuses
// to insert a text of more than insertLimit characters at once.
export function Field({ label, name, value, onChange, faults, hint, isLong, className, autoComplete, autoCapitalize }: Props) {
  const id = useId();
  const [refused, setRefused] = useState(0); // the length of a text that was not inserted
  const tooLong = `A text of ${number.format(refused)} characters was not inserted: it is too long.`;
  const own = refused ? [{ message: tooLong }] : faults.filter(({ field }) => field === name);
  const messages = new Set(own.map(({ message }) => message));
  const hasFault = messages.size > 0;
  const descriptions = [hasFault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean);
  const Input = isLong ? 'textarea' : 'input';
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        name={name}
        value={value}
        dir="auto" // the direction of the text
        autoComplete={autoComplete ?? 'off'}
        autoCapitalize={autoCapitalize}
        aria-invalid={hasFault}
        aria-describedby={descriptions.join(' ') || undefined}
        onBeforeInput={(event) => {
          const length = event.data?.length ?? 0;
          const isRefused = length > insertLimit;
          setRefused(isRefused ? length : 0);
          if (isRefused) event.preventDefault();
        }}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {hasFault && (
        <div id={`${id}-fault`}>
          {[...messages].map((message) => (
            <p key={message} className={styles.fault}>
              <Warning /> {message}
            </p>
          ))}
        </div>
      )}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

// focusFault moves the focus to the first field of a form that has a fault. The faults must be shown
// already.
export function focusFault(form: HTMLFormElement | null) {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
