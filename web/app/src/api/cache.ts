import { cacheExchange, type Cache, type Entity } from '@urql/exchange-graphcache';
import { CommentPageDocument } from '../gql/graphql';
import type {
  CreateCommentMutation,
  CreateUserMutation,
  DeleteCommentMutation,
  DeletePostMutation,
  UpdatePostMutation,
  UpdateUserMutation,
  ViewerQuery,
} from '../gql/graphql';

// newCache returns a normalised cache: one copy of each object. Tags and months have their name instead of
// an id. Connections, edges and pages have none, and belong to the object around them.
export function newCache() {
  const embedded = () => null;
  // For about a second after a rename, lists still have the old username. The viewer's own
  // username is therefore the one that the server returned for the viewer.
  let viewer: { id: string; username: string } | null | undefined;

  return cacheExchange({
    keys: {
      PostConnection: embedded,
      PostEdge: embedded,
      CommentConnection: embedded,
      CommentEdge: embedded,
      LikeConnection: embedded,
      LikeEdge: embedded,
      PageInfo: embedded,
      Tag: ({ name }) => name as string,
      ArchiveMonth: ({ month }) => month as string,
    },
    resolvers: {
      Query: { post: (_, { id }) => ({ __typename: 'Post', id: id as string }) },
      User: { username: (user) => (user.id === viewer?.id ? viewer!.username : user.username) },
    },
    updates: {
      Query: {
        viewer: (result: ViewerQuery) => {
          viewer = result.viewer;
        },
      },
      Mutation: {
        createUser(result: CreateUserMutation, _, cache) {
          viewer = result.createUser?.user;
          if (viewer) cache.link('Query', 'viewer', { __typename: 'User', id: viewer.id });
        },
        updateUser(result: UpdateUserMutation) {
          viewer = result.updateUser?.user ?? viewer;
        },
        updatePost(result: UpdatePostMutation, _, cache) {
          const post = result.updatePost?.post;
          if (!post) return;
          const names = post.tags.map(({ name }) => name);
          for (const { list, name } of listsOf(cache, 'tag')) {
            if (!names.includes(name as string)) remove(cache, post, list, 'posts');
          }
        },
        deletePost(result: DeletePostMutation, _, cache) {
          const post = result.deletePost?.post;
          if (!post) return;
          remove(cache, post, 'Query', 'feed');
          remove(cache, post, post.author, 'posts');
          for (const { list } of [...listsOf(cache, 'tag'), ...listsOf(cache, 'archive')]) remove(cache, post, list, 'posts');
          cache.invalidate(post);
        },
        createComment(result: CreateCommentMutation, _, cache) {
          const { comment, post } = result.createComment ?? {};
          if (!comment || !post) return;
          if (isListed(cache, comment, post, 'comments')) return; // an answer before this one was lost
          cache.updateQuery({ query: CommentPageDocument, variables: { id: post.id } }, (data) => {
            data?.post?.comments?.edges.unshift({ __typename: 'CommentEdge', node: comment });
            return data;
          });
        },
        deleteComment(result: DeleteCommentMutation, _, cache) {
          const { comment, post } = result.deleteComment ?? {};
          if (!comment || !post) return;
          remove(cache, comment, post, 'comments');
          cache.invalidate(comment);
        },
      },
    },
    optimistic: {
      likePost: ({ input }, cache) => liked(cache, input as { postId: string }, 1),
      unlikePost: ({ input }, cache) => liked(cache, input as { postId: string }, -1),
    },
  });
}

// liked returns the payload that likePost or unlikePost will probably have.
function liked(cache: Cache, { postId }: { postId: string }, change: 1 | -1) {
  const post = { __typename: 'Post', id: postId };
  const likeCount = (cache.resolve(post, 'likeCount') as number) + change;
  return {
    __typename: change === 1 ? 'LikePostPayload' : 'UnlikePostPayload',
    post: { ...post, likeCount, viewerHasLiked: change === 1 },
  };
}

// pagesOf returns the pages of a list that are in the cache, each with its edges.
function pagesOf(cache: Cache, parent: Entity, list: string) {
  return cache
    .inspectFields(parent)
    .filter(({ fieldName }) => fieldName === list)
    .map(({ fieldKey }) => cache.resolve(parent, fieldKey) as Entity)
    .map((page) => ({ page, edges: (cache.resolve(page, 'edges') ?? []) as Entity[] }));
}

// listsOf returns the tags or months that are in the cache, with the name of each tag.
function listsOf(cache: Cache, field: 'tag' | 'archive') {
  return cache
    .inspectFields('Query')
    .filter(({ fieldName }) => fieldName === field)
    .map(({ fieldKey, arguments: values }) => ({ list: cache.resolve('Query', fieldKey) as Entity, name: values?.name }))
    .filter(({ list }) => list);
}

const isOf = (cache: Cache, object: Entity) => (edge: Entity) => cache.resolve(edge, 'node') === cache.keyOfEntity(object);

// isListed reports whether a page of a list has an object.
const isListed = (cache: Cache, object: Entity, parent: Entity, list: string) =>
  pagesOf(cache, parent, list).some(({ edges }) => edges.some(isOf(cache, object)));

// remove removes an object from all pages of a list.
function remove(cache: Cache, object: Entity, parent: Entity, list: string) {
  for (const { page, edges } of pagesOf(cache, parent, list)) {
    cache.link(page, 'edges', edges.filter((edge) => !isOf(cache, object)(edge)));
  }
}
