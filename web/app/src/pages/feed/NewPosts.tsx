import { useRef, useState } from 'react';
import { useLive } from '../../api/live';
import { PostPublishedDocument, type FeedQuery } from '../../gql/graphql';
import { count } from '../../parts/count';
import styles from './NewPosts.module.css';

type Props = { feed: NonNullable<FeedQuery['feed']>; show: () => void };

// NewPosts tells how many posts were published after the feed was read. A button shows them: if they
// appeared by themselves, they would move what is being read.
export function NewPosts({ feed, show }: Props) {
  const newest = useRef<string>(undefined);
  const [published, setPublished] = useState<ReadonlySet<string>>(new Set());
  useLive(PostPublishedDocument, {}, {
    after: () => newest.current ?? feed.pageInfo.startCursor ?? '', // an empty feed has no cursor
    onData({ postPublished }) {
      if (!postPublished) return;
      newest.current = postPublished.cursor;
      setPublished((before) => new Set(before).add(postPublished.node.id));
    },
  });
  const listed = feed.edges.map(({ node }) => node.id);
  const unlisted = [...published].filter((id) => !listed.includes(id));
  function press() {
    setPublished(new Set());
    show();
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('main h1')!.focus({ preventScroll: true });
  }
  return (
    <div className={styles.note} role="status">
      {unlisted.length > 0 && (
        <button className="primary" onClick={press}>
          {count(unlisted.length, 'new post')}
        </button>
      )}
    </div>
  );
}
