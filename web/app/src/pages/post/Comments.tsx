import { useEffect, useRef, useState } from 'react';
import { session } from '../../api/session';
import { useRead } from '../../api/useRead';
import { read, type FragmentType } from '../../gql/fragment-masking';
import { CommentListFragmentDoc, CommentPageDocument } from '../../gql/graphql';
import { FaultBox } from '../../parts/FaultBox';
import { focusIfLost } from '../../parts/focus';
import { keep, route } from '../../route';
import { CommentItem } from './CommentItem';
import { NewComment } from './NewComment';
import styles from './Comments.module.css';

type Props = {
  postId: string;
  isPostOwn: boolean; // the viewer wrote the post
  list: FragmentType<typeof CommentListFragmentDoc>;
};

// Comments shows the comments of a post, newest first, and a form for another one. A link to them
// leads to their heading.
export function Comments({ count, ...props }: Props & { count: number }) {
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
        <p className="hint">
          <a href="/sign-in">Sign in</a> to comment.
        </p>
      )}
      {count === 0 && <p className="hint">Nobody has commented yet.</p>}
      <ol className={styles.list}>
        <Page {...props} number={1} />
      </ol>
    </section>
  );
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
      {edges.map(({ node }, index) => (
        <li key={node.id} {...(number > route.get().pages && index === 0 && { tabIndex: -1, ref: focusIfLost })}>
          <CommentItem comment={node} isPostOwn={props.isPostOwn} />
        </li>
      ))}
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
