// The fields of Query over a snapshot of the server's data; those of Subscription for the first
// message; and createPost as far as its answer follows from its input. graphql-js calls the methods with the coerced arguments.

// rootOf returns the root value of operations.
export function rootOf(snapshot) {
  const store = { users: {}, posts: {}, comments: {}, likes: {}, allTags: snapshot.tags };
  for (const [id, user] of Object.entries(snapshot.users)) store.users[id] = new User(store, user);
  for (const [id, post] of Object.entries(snapshot.posts)) store.posts[id] = new Post(store, post);
  for (const [id, comment] of Object.entries(snapshot.comments)) store.comments[id] = new Comment(store, comment);
  for (const [id, like] of Object.entries(snapshot.likes)) store.likes[id] = new Like(store, like);
  const node = (id) => store.users[id] ?? store.posts[id] ?? store.comments[id] ?? store.likes[id] ?? null;
  return {
    viewer: null,
    user: ({ id }) => store.users[id] ?? null,
    userByUsername: ({ username }) =>
      Object.values(store.users).find((user) => user.username.toLowerCase() === username.toLowerCase()) ?? null,
    post: ({ id }) => store.posts[id] ?? null,
    feed: (page) => postConnection(store, snapshot.feed, page),
    tag({ name }) {
      if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,29}$/u.test(name) || name !== name.toLowerCase()) throw new Error("no tag");
      return new Tag(store, snapshot.tags, name);
    },
    tags: ({ first }) => snapshot.tags.slice(0, size(first)).map(({ name }) => new Tag(store, snapshot.tags, name)),
    archive({ month }) {
      checkMonth(month);
      return new ArchiveMonth(store, snapshot.months, month);
    },
    archiveMonths({ first, before }) {
      const count = size(first);
      if (before != null) checkMonth(before);
      const months = snapshot.months.filter(({ month }) => before == null || month < before);
      return months.slice(0, count).map(({ month }) => new ArchiveMonth(store, snapshot.months, month));
    },
    node: ({ id }) => node(id),
    nodes({ ids }) {
      if (ids.length < 1 || ids.length > 100) throw new Error("1 to 100 ids");
      return ids.map(node);
    },
    postChanged: ({ id }) => store.posts[id],
    commentAdded({ postId }) {
      const { cursor, id } = snapshot.posts[postId].oldest[0];
      return { cursor, node: store.comments[id] };
    },
    postPublished() {
      const { cursor, id } = snapshot.published;
      return { cursor, node: store.posts[id] };
    },
    createPost: ({ input }) => ({
      post: { title: input.title, content: input.content, contentLength: [...input.content].length, version: 1,
        tags: (input.tags ?? []).map((name) => ({ name })), commentCount: 0, likeCount: 0, updatedDate: null },
    }),
  };
}

// size returns the size of a page; null stands for the default.
function size(first) {
  const count = first ?? 20;
  if (count < 0 || count > 100) throw new Error("not a page size");
  return count;
}

function checkMonth(month) {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw new Error("not a month");
}

// page returns the connection of a page of a list of edges, which have cursors and ids.
function page(list, { first, after }, nodeOf) {
  const count = size(first);
  let start = 0;
  if (after != null) {
    start = list.findIndex(({ cursor }) => cursor === after) + 1;
    if (start === 0) throw new Error("not a cursor of the list");
  }
  const part = list.slice(start, start + count);
  const edges = part.map(({ cursor, id }) => ({ cursor, node: nodeOf(id) }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    totalCount: list.length,
    pageInfo: {
      hasNextPage: start + count < list.length,
      hasPreviousPage: after != null,
      startCursor: part[0]?.cursor ?? null,
      endCursor: part.at(-1)?.cursor ?? null,
    },
  };
}

const postConnection = (store, list, arguments_) => page(list, arguments_, (id) => store.posts[id]);

class User {
  __typename = "User";
  #store;
  #posts;
  constructor(store, { posts, ...plain }) {
    Object.assign(this, plain);
    this.#store = store;
    this.#posts = posts;
  }
  posts(page) {
    return postConnection(this.#store, this.#posts, page);
  }
}

class Post {
  __typename = "Post";
  #store;
  #of;
  constructor(store, { author, recentComments, previousByAuthor, oldest, newest, likes, ...plain }) {
    Object.assign(this, plain);
    this.#store = store;
    this.#of = { author, recentComments, previousByAuthor, oldest, newest, likes };
  }
  get author() {
    return this.#store.users[this.#of.author];
  }
  get recentComments() {
    return this.#of.recentComments.map((id) => this.#store.comments[id]);
  }
  get previousByAuthor() {
    return this.#store.posts[this.#of.previousByAuthor] ?? null;
  }
  get tags() {
    return this.tagNames.map((name) => new Tag(this.#store, this.#store.allTags, name));
  }
  comments({ order, ...arguments_ }) {
    const list = order === "NEWEST_FIRST" ? this.#of.newest : this.#of.oldest;
    return page(list, arguments_, (id) => this.#store.comments[id]);
  }
  likes(arguments_) {
    return page(this.#of.likes, arguments_, (id) => this.#store.likes[id]);
  }
}

class Comment {
  __typename = "Comment";
  #store;
  #of;
  constructor(store, { author, post, ...plain }) {
    Object.assign(this, plain);
    this.#store = store;
    this.#of = { author, post };
  }
  get author() {
    return this.#store.users[this.#of.author];
  }
  get post() {
    return this.#store.posts[this.#of.post];
  }
}

class Like {
  __typename = "Like";
  #store;
  #of;
  constructor(store, { user, post, ...plain }) {
    Object.assign(this, plain);
    this.#store = store;
    this.#of = { user, post };
  }
  get user() {
    return this.#store.users[this.#of.user];
  }
  get post() {
    return this.#store.posts[this.#of.post];
  }
}

class Tag {
  #store;
  #posts;
  constructor(store, tags, name) {
    this.name = name;
    this.#store = store;
    this.#posts = tags.find((tag) => tag.name === name)?.posts ?? [];
  }
  get postCount() {
    return this.#posts.length;
  }
  posts(arguments_) {
    return postConnection(this.#store, this.#posts, arguments_);
  }
}

class ArchiveMonth {
  #store;
  #posts;
  constructor(store, months, month) {
    this.month = month;
    this.#store = store;
    this.#posts = months.find((known) => known.month === month)?.posts ?? [];
  }
  get postCount() {
    return this.#posts.length;
  }
  posts(arguments_) {
    return postConnection(this.#store, this.#posts, arguments_);
  }
}
