import { useRef } from 'react';
import { useLive } from '../../api/live';
import { useViewer } from '../../api/session';
import { useRead } from '../../api/useRead';
import { NextPostDocument, PostChangedDocument, PostDocument, type PostQuery } from '../../gql/graphql';
import { Avatar } from '../../parts/Avatar';
import { DateTime } from '../../parts/DateTime';
import { FaultBox } from '../../parts/FaultBox';
import { Gone } from '../../parts/Gone';
import { readingTime } from '../../parts/readingTime';
import { Tags } from '../../parts/Tags';
import { Text } from '../../text/Text';
import { Title } from '../../parts/Title';
import { Comments } from './Comments';
import { DeletePost } from './DeletePost';
import { LikeButton } from './LikeButton';
import styles from './Post.module.css';

// Post shows a post with its comments, and what others do to it meanwhile. With the id of a comment, that
// one comes first.
export function Post({ id, commentId }: { id: string; commentId?: string }) {
  const viewer = useViewer();
  const { data, faults, isLoading, retry } = useRead(PostDocument, { id });
  const post = data?.post;
  const wasThere = useRef(false);
  wasThere.current ||= Boolean(post);
  useLive(PostChangedDocument, { id }, {
    isReady: Boolean(post),
    onData({ postChanged }) {
      if (postChanged && postChanged.version !== post?.version) retry(); // its text was edited
    },
  });
  if (!post) {
    return isLoading ? <Skeleton /> : <Gone what="post" isDeleted={wasThere.current} faults={faults} retry={retry} />;
  }
  return (
    <>
      <Article post={post} />
      <NextPost id={id} />
      <FaultBox faults={faults} retry={retry} />
      {post.comments && (
        <Comments
          postId={id}
          linkedId={commentId}
          isPostOwn={viewer?.id === post.author.id}
          count={post.commentCount ?? 0}
          list={post.comments}
          retry={retry}
        />
      )}
    </>
  );
}

function Article({ post }: { post: NonNullable<PostQuery['post']> }) {
  const viewer = useViewer();
  return (
    <article className={styles.post}>
      <header>
        <Title className={styles.title} text={post.title} />
        <div className={styles.byline}>
          <a className={styles.author} href={`/users/${post.author.id}`}>
            <Avatar user={post.author} size="large" />
            {post.author.username}
          </a>
          <p>
            <DateTime value={post.creationDate} /> · {readingTime(post.contentLength)}
            {post.updatedDate && (
              <>
                {' · edited '}
                <DateTime value={post.updatedDate} />
              </>
            )}
          </p>
        </div>
      </header>
      {post.content && <Text text={post.content} />}
      <Tags tags={post.tags} />
      <div className={styles.actions}>
        <LikeButton post={post} />
        {viewer?.id === post.author.id && (
          <p className="buttons">
            <a className="button quiet" href={`/posts/${post.id}/edit`}>
              Edit
            </a>
            <DeletePost id={post.id} />
          </p>
        )}
      </div>
    </article>
  );
}

// NextPost is a link to the author's post before this one. It has its room before it is known, so that nothing
// moves. Its query is not that of the post, which does not wait for lists after a change.
function NextPost({ id }: { id: string }) {
  const post = useRead(NextPostDocument, { id }).data?.post;
  return (
    <div className={styles.next}>
      {post?.previousByAuthor && (
        <nav aria-label="Next post">
          <a href={`/posts/${post.previousByAuthor.id}`}>
            Next by {post.author.username}: <bdi>{post.previousByAuthor.title}</bdi>
          </a>
        </nav>
      )}
    </div>
  );
}

function Skeleton() {
  return (
    <div className={`${styles.post} skeleton`} aria-hidden="true">
      <p className={styles.title}>
        <span>A title of about this length</span>
      </p>
      <p>
        <span>Somebody, some time ago · 1 min read</span>
      </p>
      <p className={styles.content}>
        <span>
          The text of a post takes more lines than this, but these are enough to show where it will stand. They have the
          colour of a shadow, they do not move, and they leave again after a moment, when the post itself has come.
        </span>
      </p>
    </div>
  );
}
