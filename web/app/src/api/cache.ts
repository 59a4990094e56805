import { cacheExchange, type Cache, type Entity } from '@urql/exchange-graphcache';
import { CommentPageDocument } from '../gql/graphql';
import type {
  CommentAddedSubscription,
  CreateCommentMutation,
  CreateUserMutation,
  DeleteCommentMutation,
  DeletePostMutation,
  PostChangedSubscription,
} from '../gql/graphql';

// newCache returns a normalised cache: one copy of each object. Tags and months have their name
// instead of an id. Connections, edges and pages have none, and belong to the object around them.
// The viewer's name needs no care: after a rename, all answers of the server have the new one.
export function newCache() {
  const embedded = () => null;
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
      Query: {
        // A post of a list needs no other request. Where there is none, the server has answered null.
        post: (_, { id }, cache) =>
          cache.resolve('Query', 'post', { id: id as string }) === null ? null : { __typename: 'Post', id: id as string },
      },
    },
    updates: {
      Mutation: {
        createUser(result: CreateUserMutation, _, cache) {
          const user = result.createUser?.user; // before, the viewer was null
          if (user) cache.link('Query', 'viewer', { __typename: 'User', id: user.id });
        },
        createPost: (_result, _, cache) => forgetLists(cache),
        updatePost: (_result, _, cache) => forgetLists(cache), // its tags may be others
        deletePost(result: DeletePostMutation, _, cache) {
          forgetLists(cache); // also if an answer before this one was lost
          const post = result.deletePost?.post;
          if (post) cache.invalidate(post);
        },
        createComment(result: CreateCommentMutation, _, cache) {
          const { comment, post } = result.createComment ?? {};
          if (comment && post) addComment(cache, comment, post.id);
        },
        deleteComment(result: DeleteCommentMutation, _, cache) {
          const { comment, post } = result.deleteComment ?? {};
          if (!comment || !post) return;
          remove(cache, comment, post, 'comments');
          cache.invalidate(comment);
        },
      },
      Subscription: {
        postChanged(result: PostChangedSubscription, { id }, cache) {
          // The post was deleted. The page reads it again, and sees that.
          if (!result.postChanged) cache.invalidate({ __typename: 'Post', id: id as string });
        },
        commentAdded(result: CommentAddedSubscription, { postId }, cache) {
          const { node, cursor } = result.commentAdded ?? {};
          if (node) addComment(cache, node, postId as string, cursor);
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

type Comment = NonNullable<CommentAddedSubscription['commentAdded']>['node'];

// addComment adds a comment to the list of its post, newest first, unless the list has it already: the
// author's page gets it as the answer to its mutation, and live. A cursor is that of the newest comment.
function addComment(cache: Cache, comment: Comment, postId: string, cursor?: string) {
  const isKnown = isListed(cache, comment, { __typename: 'Post', id: postId }, 'comments');
  cache.updateQuery({ query: CommentPageDocument, variables: { id: postId } }, (data) => {
    const list = data?.post?.comments;
    if (!list) return data;
    if (cursor) list.pageInfo.startCursor = cursor;
    const older = list.edges.findIndex(({ node }) => Date.parse(node.creationDate!) <= Date.parse(comment.creationDate!));
    if (isKnown || (older < 0 && list.pageInfo.hasNextPage)) return data; // it can belong to a later page
    list.edges.splice(older < 0 ? list.edges.length : older, 0, { __typename: 'CommentEdge', node: comment });
    return data;
  });
}

// forgetLists forgets all lists of posts, the tags, and the months of the archive. A reader who comes
// back to them reads them again, and the server's answer has the change.
function forgetLists(cache: Cache) {
  cache.invalidate('PostConnection');
  cache.invalidate('ArchiveMonth');
  for (const { fieldName, arguments: values } of cache.inspectFields('Query')) {
    if (fieldName === 'tags') cache.invalidate('Query', fieldName, values);
  }
}

// pagesOf returns the pages of a list that are in the cache, each with its edges.
function pagesOf(cache: Cache, parent: Entity, list: string) {
  return cache
    .inspectFields(parent)
    .filter(({ fieldName }) => fieldName === list)
    .map(({ fieldKey }) => cache.resolve(parent, fieldKey) as Entity)
    .map((page) => ({ page, edges: (cache.resolve(page, 'edges') ?? []) as Entity[] }));
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
