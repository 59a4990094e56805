import { useState } from 'react';

// useDraft returns the values of a form. This tab keeps them until they are sent, also over a reload.
// The draft's key makes sending safe to repeat: it stays the same until discard or renewKey.
export function useDraft<T extends object>(name: string, initial: T) {
  const storageKey = `cosmosblog.draft.${name}`;
  const begin = () => ({ values: initial, key: crypto.randomUUID() as string });
  const [draft, setDraft] = useState<{ values: T; key: string }>(() => {
    const stored = sessionStorage.getItem(storageKey);
    return stored ? JSON.parse(stored) : begin();
  });
  function keep(next: typeof draft) {
    setDraft(next);
    sessionStorage.setItem(storageKey, JSON.stringify(next));
  }
  return {
    ...draft,
    keep: () => keep(draft),
    change: (values: Partial<T>) => keep({ ...draft, values: { ...draft.values, ...values } }),
    renewKey: () => keep({ ...draft, key: crypto.randomUUID() }),
    discard() {
      setDraft(begin());
      sessionStorage.removeItem(storageKey);
    },
  };
}
