import { useCallback, useMemo } from 'react';
import { browserStorage as storage } from '../../../shared/storage';
import { useFollowed } from '../../../shared/store';
import { session } from './session';

type Draft<Values> = { values?: Values; key: string };

// useDraft returns the values of a form: the initial ones, until a reader changes them. The browser
// then keeps them for the reader's account until discard, and all tabs show them. The draft's key
// makes sending safe to repeat, and stays the same until discard or renewKey. latest returns values
// and key to send: a reader can be faster than the page renders. keep is latest, and keeps them.
// isOld tells that the reader changed the values before the form was opened. A draft of an older program
// may lack a value, which is then the initial one.
export function useDraft<Values extends object>(name: string, initial: Values) {
  const storageKey = `cosmosblog.draft/${session.use().account?.name ?? ''}/${name}`;
  const follow = useCallback((changed: () => void) => storage.follow(storageKey, changed), [storageKey]);
  const text = useFollowed(follow, () => storage.get(storageKey));
  const { values, key } = useMemo(
    () => storage.read<Draft<Values>>(storageKey) ?? { key: crypto.randomUUID() as string },
    [storageKey, text],
  );
  const wasKept = useMemo(() => text !== null, [storageKey]);

  function latest() {
    const kept = storage.read<Draft<Values>>(storageKey);
    return { values: { ...initial, ...kept?.values }, key: kept?.key ?? key };
  }

  // The reader may have typed on while an answer came, so a change starts from the latest draft.
  function change(changes: Partial<Values>, newKey?: string) {
    const before = latest();
    const next = { values: { ...before.values, ...changes }, key: newKey ?? before.key };
    storage.set(storageKey, JSON.stringify(next));
    return next;
  }
  return {
    values: { ...initial, ...values },
    latest,
    isOld: wasKept && text !== null,
    change: (changes: Partial<Values>) => void change(changes),
    keep: () => change({}),
    renewKey: () => void change({}, crypto.randomUUID()),
    discard: () => storage.set(storageKey, null),
  };
}
