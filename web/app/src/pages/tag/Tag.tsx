import { useRead } from '../../api/useRead';
import { TagDocument } from '../../gql/graphql';
import { PostList } from '../../parts/PostList';

// Tag lists the posts with a tag.
export function Tag({ name }: { name: string }) {
  function useList(after?: string) {
    const { data, ...reading } = useRead(TagDocument, { name, after, isFirst: !after });
    return { list: data?.tag, ...reading };
  }
  return (
    <PostList
      what="tag"
      title={`Posts with the tag “${name}”`}
      useList={useList}
      none="No post has this tag."
    />
  );
}
