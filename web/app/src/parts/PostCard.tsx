import { memo } from 'react';
import { read, type FragmentType } from '../gql/fragment-masking';
import { PostCardFragmentDoc, type PostCardFragment } from '../gql/graphql';
import { Avatar } from './Avatar';
import { count } from './count';
import { DateTime } from './DateTime';
import { Bubble, Heart } from './Icons';
import { readingTime } from './readingTime';
import { RecentComments, RecentCommentsSkeleton } from './RecentComments';
import { withoutMarks } from '../text/marks';
import { Tags, TagsSkeleton } from './Tags';
import styles from './PostCard.module.css';

type Props = {
  post: FragmentType<typeof PostCardFragmentDoc>;
  ofOne?: boolean; // the list is of one author, who is not named again
};

// PostCard is the short form of a post, as lists show it. The whole card is a link to the post. A list
// that grows does not render it again.
export const PostCard = memo(function PostCard({ ofOne, ...props }: Props) {
  const post = read(PostCardFragmentDoc, props.post);
  return (
    <article className={styles.card}>
      <h2>
        <a className={styles.title} href={`/posts/${post.id}`}>
          {post.title}
        </a>
      </h2>
      <p className={styles.excerpt}>{withoutMarks(post.excerpt)}</p>
      <div className={styles.meta}>
        <p className={styles.byline}>
          {!ofOne && (
            <a className={styles.author} href={`/users/${post.author.id}`}>
              <Avatar user={post.author} />
              <span>{post.author.username}</span>
            </a>
          )}
          <span>
            <DateTime value={post.creationDate} /> · {readingTime(post.contentLength)}
          </span>
        </p>
        <Counts {...post} />
        <Tags tags={post.tags} />
      </div>
      <RecentComments post={post} />
    </article>
  );
});

// Counts has the numbers of likes and comments, whose pictures leave more room for the tags than words. If
// they could not be read, the card has none.
function Counts({ id, likeCount, commentCount }: PostCardFragment) {
  if (likeCount === null || commentCount === null) return null;
  const comments = (
    <>
      <Bubble /> <Count number={commentCount} one="comment" />
    </>
  );
  return (
    <p className={styles.counts}>
      <span>
        <Heart /> <Count number={likeCount} one="like" />
      </span>
      {commentCount > 0 ? <a href={`/posts/${id}#comments`}>{comments}</a> : <span>{comments}</span>}
    </p>
  );
}

// Count shows a number, and says the words to screen readers.
const Count = ({ number, one }: { number: number; one: string }) => (
  <>
    <span aria-hidden="true">{number.toLocaleString('en')}</span>
    <span className="hidden">{count(number, one)}</span>
  </>
);

// CardSkeleton takes the place of a card that is loading.
export function CardSkeleton() {
  return (
    <div className={`${styles.card} skeleton`} aria-hidden="true">
      <h2>
        <span>A title of about this length</span>
      </h2>
      <p className={styles.excerpt}>
        <span>
          An excerpt has about two hundred characters, which are two lines on a desk and five lines on a phone. This one
          has as many, so that nothing moves when the real one comes.
        </span>
      </p>
      <div className={styles.meta}>
        <p className={styles.byline}>
          <span>Somebody, some time ago · 1 min read</span>
        </p>
        <p className={styles.counts}>
          <span>a 12 a 3</span>
        </p>
        <TagsSkeleton />
      </div>
      <RecentCommentsSkeleton />
    </div>
  );
}
