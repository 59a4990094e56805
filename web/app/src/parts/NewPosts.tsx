import { useEffect } from 'react';
import { useQuery } from 'urql';
import { forgetPublished, published, type Published } from '../api/published';
import { NewPostDocument } from '../gql/graphql';
import { PostCard } from './PostCard';

type Props = {
  listed: { id: string; creationDate: string }[]; // the list's first page
  isWhole: boolean; // the list has no other page
  has?: (post: Published) => boolean; // whether the list will have a post; by default, it will
  ofOne?: boolean; // the list is of one author
};

// NewPosts shows the posts of this tab that a list does not have yet, because the projector adds
// them after a moment.
export function NewPosts({ listed, isWhole, has = () => true, ofOne }: Props) {
  const missing = published.use().filter((own) => has(own) && !listed.some(({ id }) => id === own.id));
  const oldest = isWhole ? '' : listed.at(-1)!.creationDate;
  return missing.map(({ id }) => <NewPost key={id} id={id} oldest={oldest} ofOne={ofOne} />);
}

// NewPost reads one post. It forgets a deleted one, and one that belongs on a later page of the list.
function NewPost({ id, oldest, ofOne }: { id: string; oldest: string; ofOne?: boolean }) {
  const [{ data, error, fetching }] = useQuery({ query: NewPostDocument, variables: { id } });
  const post = data?.post;
  const isOver = !fetching && !error && (!post || post.creationDate < oldest);
  useEffect(() => {
    if (isOver) forgetPublished(id);
  }, [isOver]);
  if (!post || isOver) return null;
  return (
    <li>
      <PostCard post={post} ofOne={ofOne} />
    </li>
  );
}
