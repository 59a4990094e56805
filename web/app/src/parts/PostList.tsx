import type { Fault } from '../api/faults';
import type { FragmentType } from '../gql/fragment-masking';
import type { PostPageFragmentDoc } from '../gql/graphql';
import { count } from './count';
import { FaultBox } from './FaultBox';
import { Gone } from './Gone';
import { PostPage, PostPageSkeleton } from './PostPage';
import { StaleNotice } from './StaleNotice';
import { Title } from './Title';
import styles from './PostList.module.css';

type List = {
  postCount?: number | null;
  posts: (FragmentType<typeof PostPageFragmentDoc> & { edges: unknown[] }) | null;
};

type Props = {
  what: 'tag' | 'month';
  title: string;
  useList: (after?: string) => {
    list?: List | null;
    faults: Fault[];
    isLoading: boolean;
    isStale: boolean;
    retry: () => void;
  };
  none: string; // what is shown instead of posts
};

// PostList is the page of a tag or a month: its posts, newest first, and their number.
export function PostList({ what, title, useList, none }: Props) {
  const { list, faults, isLoading, isStale, retry } = useList();
  if (!list && !isLoading) return <Gone what={what} faults={faults} retry={retry} />;
  return (
    <>
      {list ? (
        <header className={styles.header}>
          <Title text={title} />
          <p className="hint">{typeof list.postCount === 'number' && count(list.postCount, 'post')}</p>
        </header>
      ) : (
        <Skeleton />
      )}
      <FaultBox faults={faults} retry={retry} />
      <StaleNotice isStale={isStale} isLoading={isLoading} retry={retry} />
      <ol className="cards">
        {list?.posts ? (
          <PostPage
            page={list.posts}
            number={1}
            next={(after) => <NextPage useList={useList} number={2} after={after} />}
          />
        ) : (
          isLoading && <PostPageSkeleton />
        )}
      </ol>
      {list?.posts?.edges.length === 0 && !isStale && <p className="empty">{none}</p>}
    </>
  );
}

function NextPage({ useList, number, after }: Pick<Props, 'useList'> & { number: number; after: string }) {
  const { list, faults, retry } = useList(after);
  if (faults.length > 0) {
    return (
      <li>
        <FaultBox faults={faults} retry={retry} />
      </li>
    );
  }
  if (!list?.posts) return <PostPageSkeleton />;
  return (
    <PostPage
      page={list.posts}
      number={number}
      next={(after) => <NextPage useList={useList} number={number + 1} after={after} />}
    />
  );
}

function Skeleton() {
  return (
    <header className={`${styles.header} skeleton`} aria-hidden="true">
      <h1>
        <span>Posts of a month</span>
      </h1>
      <p className="hint">
        <span>20 posts</span>
      </p>
    </header>
  );
}
