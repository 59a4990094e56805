import { memo } from 'react';
import { read, type FragmentType } from '../gql/fragment-masking';
import { PostCardFragmentDoc } from '../gql/graphql';
import { Avatar } from './Avatar';
import { count } from './count';
import { DateTime } from './DateTime';
import { Bubble, Heart } from './Icons';
import { RecentComments, RecentCommentsSkeleton } from './RecentComments';
import styles from './PostCard.module.css';

type Props = {
  post: FragmentType<typeof PostCardFragmentDoc>;
  ofOne?: boolean; // the list is of one author, who is not named again
};

// PostCard is the short form of a post, as lists show it. The whole card is a link to the post. A list
// that grows does not render it again.
export const PostCard = memo(function PostCard({ ofOne, ...props }: Props) {
  const post = read(PostCardFragmentDoc, props.post);
  const comments = (
    <>
      <Bubble /> {count(post.commentCount, 'comment')}
    </>
  );
  return (
    <article className={styles.card}>
      <p className={styles.byline}>
        {!ofOne && (
          <a className={styles.author} href={`/users/${post.author.id}`}>
            <Avatar user={post.author} />
            <span>{post.author.username}</span>
          </a>
        )}
        <DateTime value={post.creationDate} />
      </p>
      <h2>
        <a className={styles.title} href={`/posts/${post.id}`}>
          {post.title}
        </a>
      </h2>
      <p className={styles.excerpt}>{post.excerpt}</p>
      <p className={styles.counts}>
        <span>
          <Heart /> {count(post.likeCount, 'like')}
        </span>
        {post.commentCount > 0 ? (
          <a href={`/posts/${post.id}#comments`}>{comments}</a>
        ) : (
          <span>{comments}</span>
        )}
      </p>
      <RecentComments post={post} />
    </article>
  );
});

// CardSkeleton takes the place of a card that is loading.
export function CardSkeleton() {
  return (
    <div className={`${styles.card} skeleton`} aria-hidden="true">
      <p className={styles.byline}>
        <span>Somebody, some time ago</span>
      </p>
      <h2>
        <span>A title of about this length</span>
      </h2>
      <p className={styles.excerpt}>
        <span>
          An excerpt has about two hundred characters, which are two lines on a desk and five lines on a phone. This one
          has as many, so that nothing moves when the real one comes.
        </span>
      </p>
      <p className={styles.counts}>
        <span>12 likes</span>
      </p>
      <RecentCommentsSkeleton />
    </div>
  );
}
