import { useState } from 'react';
import { useMutation } from 'urql';
import { useDraft } from '../../api/useDraft';
import { faultsOf } from '../../api/faults';
import { useViewer } from '../../api/session';
import { read, type FragmentType } from '../../gql/fragment-masking';
import { CommentItemFragmentDoc, DeleteCommentDocument, UpdateCommentDocument } from '../../gql/graphql';
import { Avatar } from '../../parts/Avatar';
import { Confirm } from '../../parts/Confirm';
import { DateTime } from '../../parts/DateTime';
import { Field } from '../../parts/Field';
import { useOpener } from '../../parts/focus';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';
import styles from './CommentItem.module.css';

type Props = { postId: string; comment: FragmentType<typeof CommentItemFragmentDoc>; isPostOwn: boolean };

// CommentItem shows a comment. Its author can edit and delete it, and the post's author can delete it.
// Its date is a link to it. A comment without a text was deleted after the server had read the list.
export function CommentItem(props: Props) {
  const comment = read(CommentItemFragmentDoc, props.comment);
  const viewer = useViewer();
  const [isEdited, setEdited] = useState(false);
  const opener = useOpener(isEdited);
  const isOwn = viewer?.id === comment.author.id;
  const { content } = comment;
  return (
    <article className={styles.comment}>
      <p className={styles.byline}>
        <a className={styles.author} href={`/users/${comment.author.id}`}>
          <Avatar user={comment.author} />
          {comment.author.username}
        </a>
        <a className={styles.date} href={`/posts/${props.postId}/comments/${comment.id}`}>
          <DateTime value={comment.creationDate} />
        </a>
        {comment.updatedDate && <span>edited</span>}
      </p>
      {content === null ? (
        <p className="hint">This comment is no longer there.</p>
      ) : isEdited ? (
        <EditComment id={comment.id} content={content} close={() => setEdited(false)} />
      ) : (
        <div className={styles.content}>{content}</div>
      )}
      {(isOwn || props.isPostOwn) && content !== null && !isEdited && (
        <p className={`${styles.actions} buttons`}>
          {isOwn && (
            <button ref={opener} className="quiet" onClick={() => setEdited(true)}>
              Edit
            </button>
          )}
          <DeleteComment id={comment.id} />
        </p>
      )}
    </article>
  );
}

function EditComment({ id, content, close }: { id: string; content: string; close: () => void }) {
  const [, update] = useMutation(UpdateCommentDocument);
  const draft = useDraft(`edit.${id}`, { content });
  async function submit() {
    const { data, error } = await update({ input: { id, ...draft.latest().values } });
    if (!data?.updateComment?.comment) return faultsOf(error);
    draft.discard();
    announce('Your comment is changed.');
    close();
    return [];
  }
  const cancel = () => {
    draft.discard();
    close();
  };
  return (
    <Form
      takesFocus
      submit={submit}
      action="Save"
      beside={
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      }
    >
      {(faults) => (
        <Field
          label="Your comment"
          name="content"
          value={draft.values.content}
          onChange={(content) => draft.change({ content })}
          faults={faults}
          hint={draft.isOld ? 'You changed this earlier, and did not save it.' : undefined}
          isLong
        />
      )}
    </Form>
  );
}

function DeleteComment({ id }: { id: string }) {
  const [, remove] = useMutation(DeleteCommentDocument);
  async function run() {
    const { error } = await remove({ input: { id } });
    const faults = faultsOf(error);
    if (faults.length > 0) return faults;
    announce('The comment is deleted.');
    document.getElementById('comments')!.focus();
    return [];
  }
  return <Confirm label="Delete" question="Delete this comment?" action="Delete comment" run={run} />;
}
