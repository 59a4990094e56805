import { read, type FragmentType } from '../gql/fragment-masking';
import { RecentCommentsFragmentDoc } from '../gql/graphql';
import { DateTime } from './DateTime';
import styles from './RecentComments.module.css';

// RecentComments shows the newest comments of a post within its card, each on one line.
export function RecentComments(props: { post: FragmentType<typeof RecentCommentsFragmentDoc> }) {
  const { recentComments } = read(RecentCommentsFragmentDoc, props.post);
  if (!recentComments?.length) return null;
  return (
    <ol className={styles.comments} aria-label="Newest comments">
      {recentComments.map(({ id, author, excerpt, creationDate }) => (
        <li key={id}>
          <a className={styles.author} href={`/users/${author.id}`}>
            {author.username}
          </a>
          <span className={styles.excerpt}>{excerpt}</span>
          <DateTime value={creationDate} />
        </li>
      ))}
    </ol>
  );
}

// RecentCommentsSkeleton takes their place in a card that is loading.
export function RecentCommentsSkeleton() {
  return (
    <div className={styles.comments}>
      {[1, 2, 3].map((key) => (
        <p key={key}>
          <span>Somebody said in about fifty characters, some time ago</span>
        </p>
      ))}
    </div>
  );
}
