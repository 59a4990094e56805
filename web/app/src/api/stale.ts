import type { OperationResult } from 'urql';
import { newStore } from '../../../shared/store';

// stale has the keys of the operations whose last answer may lack what the account has changed.
// Lists follow a change after a moment, and the server does not wait long for them.
export const stale = newStore<ReadonlySet<number>>(new Set());

export const forgetStale = () => stale.set(new Set());

export function noteStale({ operation, extensions }: OperationResult) {
  const isStale = extensions?.stale === true;
  if (isStale === stale.get().has(operation.key)) return;
  const others = [...stale.get()].filter((key) => key !== operation.key);
  stale.set(new Set(isStale ? [...others, operation.key] : others));
}
