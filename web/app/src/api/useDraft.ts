import { useMemo } from 'react';
import { useFollowed } from '../../../shared/store';
import { openDraft } from './drafts';
import { session } from './session';

// useDraft returns the draft of a form, which belongs to the reader's account. All tabs show it.
export function useDraft<Values extends object>(form: string, initial: Values) {
  const account = session.use().account?.name;
  const draft = useMemo(() => openDraft<Values>(account, form), [account, form]);
  useFollowed(draft.follow, draft.text);
  return draft.of(initial);
}
