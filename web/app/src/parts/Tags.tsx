import styles from './Tags.module.css';

type Props = {
  tags: { name: string; postCount?: number | null }[];
  label?: string;
};

const pathOf = (name: string) => `/tags/${encodeURIComponent(name)}`;

// Tags is a list of links to the pages of tags. Where the numbers of their posts are known, it has them
// too.
export function Tags({ tags, label = 'Tags' }: Props) {
  if (tags.length === 0) return null;
  return (
    <ul className={styles.tags} aria-label={label}>
      {tags.map(({ name, postCount }) => (
        <li key={name}>
          <a href={pathOf(name)}>
            <bdi>{name}</bdi>
            {typeof postCount === 'number' && (
              <span className={styles.count}>
                {postCount.toLocaleString('en')}
                <span className="hidden"> posts</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

// TagsSkeleton takes their place in a card that is loading.
export const TagsSkeleton = () => (
  <p>
    <span>a-tag another-tag</span>
  </p>
);
