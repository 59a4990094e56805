import { useEffect } from 'react';
import { useQuery } from 'urql';
import { forgetPublished, published } from '../api/published';
import { NewPostDocument } from '../gql/graphql';
import { PostCard } from './PostCard';

type Listed = { id: string; creationDate: string }[];

// NewPosts shows the posts of this tab that a list does not have yet, because the projector adds
// them after a moment. listed is the list's first page; isWhole means that the list has no other.
export function NewPosts({ listed, isWhole }: { listed: Listed; isWhole: boolean }) {
  const missing = published.use().filter((id) => !listed.some((post) => post.id === id));
  return missing.map((id) => <NewPost key={id} id={id} oldest={isWhole ? '' : listed.at(-1)!.creationDate} />);
}

// NewPost reads one post. It forgets a deleted one, and one that belongs on a later page of the list.
function NewPost({ id, oldest }: { id: string; oldest: string }) {
  const [{ data, error, fetching }] = useQuery({ query: NewPostDocument, variables: { id } });
  const post = data?.post;
  const isOver = !fetching && !error && (!post || post.creationDate < oldest);
  useEffect(() => {
    if (isOver) forgetPublished(id);
  }, [isOver]);
  if (!post || isOver) return null;
  return (
    <li>
      <PostCard post={post} />
    </li>
  );
}
