import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLive } from '../../api/live';
import { canSignIn } from '../../api/page';
import { session, useViewer } from '../../api/session';
import { useRead } from '../../api/useRead';
import { read, type FragmentType } from '../../gql/fragment-masking';
import {
  CommentAddedDocument,
  CommentItemFragmentDoc,
  CommentListFragmentDoc,
  CommentPageDocument,
  LinkedCommentDocument,
} from '../../gql/graphql';
import { FaultBox } from '../../parts/FaultBox';
import { focusIfLost } from '../../parts/focus';
import { announce } from '../../parts/Notice';
import { keep, route } from '../../route';
import { CommentItem } from './CommentItem';
import { NewComment } from './NewComment';
import styles from './Comments.module.css';

type Props = {
  postId: string;
  linkedId?: string; // of the comment that a link names
  isPostOwn: boolean; // the viewer wrote the post
  list: FragmentType<typeof CommentListFragmentDoc>;
};

// Comments shows the comments of a post, newest first, and a form for another one. New comments of
// others appear by themselves. A link to the comments leads to their heading.
export function Comments({ count, retry, ...props }: Props & { count: number; retry: () => void }) {
  useNewComments(props);
  useComplete(props, count, retry);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash !== '#comments' || route.get().isBack) return;
    heading.current!.scrollIntoView();
    heading.current!.focus({ preventScroll: true });
  }, []);
  return (
    <section className={styles.comments} aria-labelledby="comments">
      <h2 ref={heading} id="comments" tabIndex={-1}>
        Comments <span className={styles.count}>{count.toLocaleString('en')}</span>
      </h2>
      {session.use().account ? (
        <NewComment postId={props.postId} />
      ) : (
        canSignIn && (
          <p className="hint">
            <a href="/sign-in">Sign in</a> to comment.
          </p>
        )
      )}
      {props.linkedId && <LinkedComment {...props} linkedId={props.linkedId} />}
      {count === 0 && <p className="hint">Nobody has commented yet.</p>}
      <ol className={styles.list}>
        <Page {...props} number={1} />
      </ol>
    </section>
  );
}

// LinkedComment shows the comment that a link leads to, which can be on any page of the list.
function LinkedComment({ linkedId, ...props }: Props & { linkedId: string }) {
  const { data, faults, retry } = useRead(LinkedCommentDocument, { id: linkedId });
  const section = useRef<HTMLElement>(null);
  const comment = data?.node?.__typename === 'Comment' && data.node.post?.id === props.postId ? data.node : undefined;
  const isThere = comment !== undefined;
  const isGone = (data && !comment) || faults.some(({ code }) => code === 'BAD_USER_INPUT');
  useEffect(() => {
    if (route.get().isBack || !(isThere || isGone)) return;
    section.current!.scrollIntoView();
    section.current!.focus({ preventScroll: true });
  }, [isThere, isGone]);
  return (
    <section ref={section} className={styles.linked} aria-label="The linked comment" tabIndex={-1}>
      {comment && <CommentItem {...props} comment={comment} />}
      {isGone ? <p className="hint">The linked comment is no longer there.</p> : <FaultBox faults={faults} retry={retry} />}
    </section>
  );
}

// useNewComments lists the comments that are published after the newest one of the list, or after none.
function useNewComments({ postId, list }: Props) {
  const viewer = useViewer();
  const { startCursor } = read(CommentListFragmentDoc, list).pageInfo;
  useLive(CommentAddedDocument, { postId }, {
    after: () => startCursor ?? '',
    onData({ commentAdded }) {
      const author = commentAdded && read(CommentItemFragmentDoc, commentAdded.node).author;
      if (author && author.id !== viewer?.id) announce(`${author.username} has commented.`);
    },
  });
}

// useComplete reads the comments again if their number shows that one was deleted, or did not arrive, as
// without a WebSocket.
function useComplete({ list }: Props, count: number, retry: () => void) {
  const { edges, pageInfo } = read(CommentListFragmentDoc, list);
  const listed = pageInfo.hasNextPage ? count : edges.length; // a part of a list tells nothing
  const readAgain = useEffectEvent(retry);
  useEffect(() => {
    if (listed === count) return;
    const timer = setTimeout(() => readAgain(), 1000); // comment and number arrive at different moments
    return () => clearTimeout(timer);
  }, [listed, count]);
}

// Page shows a page of comments. After a click for the next page, its first comment has the focus. A
// reader who comes back finds all pages open that were.
function Page({ list, number, ...props }: Props & { number: number }) {
  const { edges, pageInfo } = read(CommentListFragmentDoc, list);
  const [isOpen, setOpen] = useState(number < route.get().pages);
  const open = () => {
    keep({ pages: number + 1 });
    setOpen(true);
  };
  return (
    <>
      {edges.map(
        ({ node }, index) =>
          node.id !== props.linkedId && (
            <li key={node.id} {...(number > route.get().pages && index === 0 && { tabIndex: -1, ref: focusIfLost })}>
              <CommentItem {...props} comment={node} />
            </li>
          ),
      )}
      {pageInfo.hasNextPage && !isOpen && (
        <li>
          <button onClick={open}>Show older comments</button>
        </li>
      )}
      {pageInfo.hasNextPage && isOpen && <NextPage {...props} number={number + 1} after={pageInfo.endCursor!} />}
    </>
  );
}

function NextPage({ after, ...props }: Omit<Props, 'list'> & { number: number; after: string }) {
  const { data, faults, retry } = useRead(CommentPageDocument, { id: props.postId, after });
  if (faults.length > 0) {
    return (
      <li>
        <FaultBox faults={faults} retry={retry} />
      </li>
    );
  }
  if (!data?.post?.comments) return <li aria-busy="true">Loading…</li>;
  return <Page {...props} list={data.post.comments} />;
}
