import { useId } from 'react';
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
};

// Field is an input with its label, and its fault beside it. It is a text area if isLong.
export function Field({ label, name, value, onChange, faults, hint, isLong, className, autoComplete }: Props) {
  const id = useId();
  const fault = faults.find(({ field }) => field === name);
  const descriptions = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean);
  const Input = isLong ? 'textarea' : 'input';
  return (
    <div className={`${styles.field} ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        name={name}
        value={value}
        autoComplete={autoComplete ?? 'off'}
        aria-invalid={fault !== undefined}
        aria-describedby={descriptions.join(' ') || undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {fault && (
        <p id={`${id}-fault`} className={styles.fault}>
          <Warning /> {fault.message}
        </p>
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
