import { useMutation } from 'urql';
import { useDraft } from '../../api/useDraft';
import { faultsOf, isKeyUsed } from '../../api/faults';
import { useViewer } from '../../api/session';
import { CreateCommentDocument } from '../../gql/graphql';
import { Field } from '../../parts/Field';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';
import { navigate } from '../../route';

// NewComment is the form for a comment. It stays with its text if the session ends, and then leads to
// the page for signing in.
export function NewComment({ postId }: { postId: string }) {
  const isSignedOut = useViewer() === null;
  const [, create] = useMutation(CreateCommentDocument);
  const draft = useDraft(`comment.${postId}`, { content: '' });
  async function submit() {
    if (isSignedOut) {
      navigate('/sign-in');
      return [];
    }
    const { values, key } = draft.latest();
    const { data, error } = await create({ input: { postId, ...values, idempotencyKey: key } });
    if (data?.createComment?.comment) {
      draft.discard();
      announce('Your comment is published.');
      return [];
    }
    const faults = faultsOf(error);
    if (isKeyUsed(faults)) draft.renewKey();
    return faults;
  }
  return (
    <Form submit={submit} action={isSignedOut ? 'Sign in to comment' : 'Comment'}>
      {(faults) => (
        <Field
          label="Your comment"
          name="content"
          value={draft.values.content}
          onChange={(content) => draft.change({ content })}
          faults={faults}
          isLong
        />
      )}
    </Form>
  );
}
