import { useEffectEvent, useLayoutEffect, useReducer } from 'react';

// newStore returns a value outside of components. Components that use() it render again when it is set.
export function newStore<T>(value: T) {
  const listeners = new Set<() => void>();
  const get = () => value;
  const follow = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    get,
    set(next: T) {
      value = next;
      listeners.forEach((listener) => listener());
    },
    follow,
    use: () => useFollowed(follow, get),
  };
}

// useFollowed is useSyncExternalStore, but follows from the moment at which a component can be seen.
// Preact's begins some time later. A form that renders again in between, because a reader types, then
// gets its old text back.
export function useFollowed<T>(follow: (listener: () => void) => () => void, get: () => T): T {
  const [, render] = useReducer((renders: number) => renders + 1, 0);
  const value = get();
  const update = useEffectEvent(() => {
    if (get() !== value) render();
  });
  useLayoutEffect(() => {
    update();
    return follow(() => update());
  }, [follow]);
  return value;
}
