import { browserStorage as storage } from '../../../shared/storage';

type Kept<Values> = { values?: Partial<Values>; key?: string };

// openDraft returns the draft of a form. The browser keeps what a reader changes, for the account,
// until discard. text is what it keeps, and follow calls a listener when that changes, also in another
// tab.
export function openDraft<Values extends object>(account: string | undefined, form: string) {
  const storageKey = `cosmosblog.draft/${account ?? ''}/${form}`;
  const text = () => storage.get(storageKey);
  const follow = (changed: () => void) => storage.follow(storageKey, changed);
  const wasKept = text() !== null;
  let nextKey: string = crypto.randomUUID(); // of a draft that is not kept yet

  function set(draft: Kept<Values> | null) {
    nextKey = crypto.randomUUID();
    storage.set(storageKey, draft && JSON.stringify(draft));
  }

  // of returns the values of the form: the initial ones, until the reader changes them. The draft's
  // key makes sending safe to repeat, and stays the same until discard or renewKey. latest returns
  // values and key to send: a reader can be faster than the page renders. keep is latest, and keeps
  // them. isOld tells that the reader changed the values before the form was opened. A draft of an
  // older program may lack a value, which is then the initial one.
  function of(initial: Values) {
    function latest() {
      const kept = storage.read<Kept<Values>>(storageKey);
      return { values: { ...initial, ...kept?.values }, key: kept?.key ?? nextKey };
    }

    // The reader may have typed on while an answer came, so a change starts from the latest draft.
    function change(changes: Partial<Values>, newKey?: string) {
      const { values, key } = latest();
      const next = { values: { ...values, ...changes }, key: newKey ?? key };
      set(next);
      return next;
    }
    return {
      values: latest().values,
      latest,
      isOld: wasKept && text() !== null,
      change: (changes: Partial<Values>) => void change(changes),
      keep: () => change({}),
      renewKey: () => void change({}, crypto.randomUUID()),
      discard: () => set(null),
    };
  }
  return { text, follow, of };
}
