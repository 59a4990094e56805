import type { Client } from 'urql';
import { faultsOf, type Fault } from '../../api/faults';
import { CreatePostDocument } from '../../gql/graphql';
import type { PostText } from './PostFields';
import { namingTags, tagsOf } from './tags';

// publish publishes a post, and returns its id or its faults. The key makes it safe to repeat.
export async function publish(client: Client, text: PostText, key: string): Promise<{ id: string } | { faults: Fault[] }> {
  const tags = tagsOf(text.tags);
  const { data, error } = await client.mutation(CreatePostDocument, { input: { ...text, tags, idempotencyKey: key } });
  const post = data?.createPost?.post;
  return post ? { id: post.id } : { faults: namingTags(faultsOf(error), tags) };
}
