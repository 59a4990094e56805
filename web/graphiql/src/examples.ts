// The ten operations of the article, the lists of tags and months, and the subscriptions. The
// variables of an example are filled with ids of the blog when its tab is shown.

const texts = import.meta.glob<string>('./examples/*.graphql', { query: '?raw', import: 'default', eager: true });

// Variables that fill() replaces while they are empty.
export interface Ids {
  postId?: string;
  userId?: string;
  username?: string;
}

export interface Example {
  code: string; // the article's name of the operation, or T for tags and months, or S for subscriptions
  title: string;
  query: string;
  variables: string; // JSON
  articleRU?: number; // what the article measured for its last model, if it has the operation
}

const example = (code: string, title: string, articleRU: number | undefined, file: string, variables?: object): Example => ({
  code,
  title,
  articleRU,
  query: texts[`./examples/${file}.graphql`]!,
  variables: variables ? format(variables) : '',
});

const format = (variables: object) => JSON.stringify(variables, null, 2);

// The feed is first, and open at the beginning, because it needs no variables. The others tell a
// story, in the article's order.
export const examples = [
  example('Q6', 'Recent posts', 16.97, 'feed'),
  example('C1', 'Create a user', 5.71, 'create-user', { username: '' }),
  example('Q1', 'A user', 1, 'user', { userId: '' }),
  example('C2', 'Publish a post', 8.76, 'create-post', {
    title: 'One partition is enough',
    content: 'Every list of this blog is one query in one partition.',
    tags: ['data-modelling'],
  }),
  example('Q2', 'A post', 1, 'post', { postId: '' }),
  example('Q3', 'A user’s posts', 6.46, 'user-posts', { userId: '' }),
  example('C3', 'Comment on a post', 15.27, 'create-comment', { postId: '', content: 'Well said.' }),
  example('Q4', 'A post’s comments', 7.72, 'comments', { postId: '' }),
  example('C4', 'Like a post', 14.67, 'like-post', { postId: '' }),
  example('Q5', 'A post’s likes', 8.92, 'likes', { postId: '' }),
  example('T1', 'Tags and their posts', undefined, 'tags'),
  example('T2', 'The archive', undefined, 'archive'),
  example('S1', 'Watch a post', undefined, 'post-changed', { postId: '' }),
  example('S2', 'Watch for comments', undefined, 'comment-added', { postId: '' }),
  example('S3', 'Watch the feed', undefined, 'post-published'),
];

// emptyIds returns the names of the ids that are empty in variables, a text in JSON.
export function emptyIds(variables: string): (keyof Ids)[] {
  const values = parse(variables);
  return (['postId', 'userId', 'username'] as const).filter((name) => values?.[name] === '');
}

// fill returns variables with ids in place of the empty ones.
export function fill(variables: string, ids: Ids): string {
  const values = parse(variables);
  if (!values) return variables;
  for (const name of emptyIds(variables)) values[name] = ids[name] ?? '';
  return format(values);
}

function parse(variables: string): Record<string, unknown> | undefined {
  try {
    const values = JSON.parse(variables);
    return typeof values === 'object' && values !== null ? values : undefined;
  } catch {
    return undefined; // somebody is typing
  }
}
