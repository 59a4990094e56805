import { read, type FragmentType } from '../gql/fragment-masking';
import { PostCardFragmentDoc } from '../gql/graphql';
import { DateTime } from './DateTime';
import styles from './PostCard.module.css';

// PostCard is the short form of a post, as lists show it.
export function PostCard(props: { post: FragmentType<typeof PostCardFragmentDoc> }) {
  const post = read(PostCardFragmentDoc, props.post);
  return (
    <article className={styles.card}>
      <p className={styles.byline}>
        <span className={styles.author}>{post.author.username}</span>
        <DateTime value={post.creationDate} />
      </p>
      <h2>{post.title}</h2>
      <p className={styles.excerpt}>{post.excerpt}</p>
      <p className={styles.counts}>
        <span>{count(post.likeCount, 'like')}</span>
        <span>{count(post.commentCount, 'comment')}</span>
      </p>
    </article>
  );
}

const count = (n: number, noun: string) => `${n.toLocaleString('en')} ${n === 1 ? noun : noun + 's'}`;
