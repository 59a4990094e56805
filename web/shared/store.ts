import { useSyncExternalStore } from 'react';

// newStore returns a value outside of components. Components that use() it render again when it is set.
export function newStore<T>(value: T) {
  const listeners = new Set<() => void>();
  const get = () => value;
  const follow = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(next: T) {
      value = next;
      listeners.forEach((listener) => listener());
    },
    follow,
    use: () => useSyncExternalStore(follow, get),
  };
}
