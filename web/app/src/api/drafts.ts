import { useState } from 'react';

// useDraft returns the values of a form: the initial ones, until a reader changes them. This tab then
// keeps them until discard, also over a reload. The draft's key makes sending safe to repeat, and stays
// the same until discard or renewKey. keep keeps values and key before they are sent.
export function useDraft<Values extends object>(name: string, initial: Values) {
  const storageKey = `cosmosblog.draft.${name}`;
  const begin = () => ({ values: undefined as Values | undefined, key: crypto.randomUUID() as string });
  const [{ values, key }, setDraft] = useState<ReturnType<typeof begin>>(() => {
    const kept = sessionStorage.getItem(storageKey);
    return kept ? JSON.parse(kept) : begin();
  });
  // The reader may have typed on while an answer came, so a change starts from the latest draft.
  function change(changes: Partial<Values>, newKey?: string) {
    setDraft((draft) => {
      const next = { values: { ...(draft.values ?? initial), ...changes }, key: newKey ?? draft.key };
      sessionStorage.setItem(storageKey, JSON.stringify(next));
      return next;
    });
  }
  return {
    values: values ?? initial,
    key,
    change: (changes: Partial<Values>) => change(changes),
    keep: () => change({}),
    renewKey: () => change({}, crypto.randomUUID()),
    discard() {
      setDraft(begin());
      sessionStorage.removeItem(storageKey);
    },
  };
}
