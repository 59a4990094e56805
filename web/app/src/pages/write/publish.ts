import type { Client } from 'urql';
import { faultsOf, type Fault } from '../../api/faults';
import { rememberPublished } from '../../api/published';
import { CreatePostDocument, type CreatePostInput } from '../../gql/graphql';

// publish publishes a post, and returns its id or its faults.
export async function publish(client: Client, input: CreatePostInput): Promise<{ id: string } | { faults: Fault[] }> {
  const { data, error } = await client.mutation(CreatePostDocument, { input });
  const post = data?.createPost?.post;
  if (!post) return { faults: faultsOf(error) };
  rememberPublished(post.id);
  return { id: post.id };
}
