import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { read, type FragmentType } from '../gql/fragment-masking';
import { PostPageFragmentDoc } from '../gql/graphql';
import { keep, route } from '../route';
import { CardSkeleton, PostCard } from './PostCard';
import styles from './PostPage.module.css';

type Props = {
  page: FragmentType<typeof PostPageFragmentDoc>;
  ofOne?: boolean; // all posts are of one author
  number: number; // of the page in its list, from 1
  next: (after: string) => ReactNode; // the page after this one
  end?: ReactNode; // what stands at the end of the list
};

// PostPage shows one page of a list of posts as list items, and the next page once its end comes near.
// A reader who comes back finds all pages open that were.
export function PostPage({ page, ofOne, number, next, end }: Props) {
  const { edges, pageInfo } = read(PostPageFragmentDoc, page);
  const [isOpen, setOpen] = useState(number < route.get().pages);
  const open = () => {
    keep({ pages: number + 1 });
    setOpen(true);
  };
  const posts = edges.map(({ node }) => node);
  const shown = useGrowing(posts.length);
  return (
    <>
      {posts.slice(0, shown).map((post) => (
        <li key={post.id}>
          <PostCard post={post} ofOne={ofOne} />
        </li>
      ))}
      {shown >= posts.length && !pageInfo.hasNextPage && end && <li className={styles.end}>{end}</li>}
      {shown >= posts.length && pageInfo.hasNextPage && (isOpen ? next(pageInfo.endCursor!) : <More open={open} />)}
    </>
  );
}

// useGrowing returns a number that grows to n in steps, each in a task of its own. A slow processor
// can thereby answer a reader between them. A reader who comes back gets all at once, to scroll.
function useGrowing(n: number) {
  const step = 3; // about a screen
  const [shown, setShown] = useState(route.get().isBack ? Infinity : step);
  useEffect(() => {
    if (shown >= n) return;
    const timer = setTimeout(() => setShown(shown + step));
    return () => clearTimeout(timer);
  }, [shown, n]);
  return shown;
}

// More opens the next page when the reader comes near, or presses its button.
function More({ open }: { open: () => void }) {
  const item = useRef<HTMLLIElement>(null);
  const comeNear = useEffectEvent(open);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && comeNear(), { rootMargin: '800px' });
    observer.observe(item.current!);
    return () => observer.disconnect();
  }, []);
  return (
    <li ref={item} className={styles.end}>
      <button onClick={open}>Show more posts</button>
    </li>
  );
}

// PostPageSkeleton takes the place of a page that is loading.
export function PostPageSkeleton() {
  return (
    <>
      {[1, 2, 3, 4].map((key) => (
        <li key={key}>
          <CardSkeleton />
        </li>
      ))}
    </>
  );
}
