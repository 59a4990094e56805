// What the tests ask of each library, in Node.js as in a page.

// Connection is how an application connects to the API.
export interface Connection {
  url: string;
  // token returns a token that is valid for a while. It renews the last one if need be.
  token: () => Promise<string>;
  // closed is told the code of each WebSocket that is closed.
  closed: (code: number) => void;
}

// Fault is an error of an answer, or one without a code if there is no answer.
export interface Fault {
  message: string;
  extensions?: { [name: string]: unknown };
}

// Sink is told what happens to a subscription.
export interface Sink {
  next(data: any): void;
  error(faults: readonly Fault[]): void;
  complete(): void;
}

export interface Post {
  likeCount: number | null;
  commentCount: number | null;
  viewerHasLiked: boolean | null;
}

export type Subscription = "PostChanged" | "CommentAdded";

// Client is a client of a library.
export interface Client {
  // read reads a post, before the subscriptions, and returns the cursor of its last
  // comment, or an empty text.
  read(id: string): Promise<string>;
  // shown returns the post as the client's cache has it, if the library has a cache.
  shown(id: string): Post | undefined;
  // subscribe begins a subscription. It returns a function that ends it.
  subscribe(name: Subscription, variables: Variables, sink: Sink): () => void;
}

export type Library = (connection: Connection) => Client;

// Variables are those of a subscription.
export interface Variables {
  [name: string]: unknown;
}

// faultsOf returns the errors of a failure that a library tells.
export function faultsOf(error: unknown): readonly Fault[] {
  if (Array.isArray(error)) return error;
  return [{ message: error instanceof Error ? error.message : String(error) }];
}
