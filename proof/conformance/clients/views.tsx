// The pages of a small blog, without the library that loads their data.
import { useId, useState, type FC, type PropsWithChildren } from "react";
import type { ErrorCode } from "./generated/gql/enums";

// BlogError is an error of the API, or another failure as one.
export interface BlogError {
  message: string;
  path?: readonly (string | number)[];
  extensions?: { code?: ErrorCode; field?: readonly (string | number)[]; retryAfterMs?: number };
}

// Connection says how a library reaches the API.
export interface Connection {
  url: string;
  fetch?: typeof fetch;
  token?: () => string; // the current token
  renew?: () => Promise<void>; // gets another token, after UNAUTHENTICATED
  isPersisted?: boolean; // uses automatic persisted queries
}

// Values are the contents of a form. Fields that the person did not touch are missing.
export type Values = Record<string, string>;

// Library is the blog with one library. All components are within the component of `connect`.
export interface Library {
  name: string;
  connect(connection: Connection): FC<PropsWithChildren>;
  Feed: FC<{ first: number }>;
  Post: FC<{ id: string }>;
  SignUp: FC<{ idempotencyKey?: string }>;
  NewPost: FC<{ idempotencyKey?: string }>;
  NewComment: FC<{ postId: string }>;
  EditPost: FC<{ id: string; version: number }>;
  TwoPosts: FC<{ titles: [string, string] }>;
}

export interface PostCard {
  id: string;
  title: string;
  likeCount?: number | null;
  viewerHasLiked?: boolean | null;
  author: { id: string; username: string; postCount?: number | null };
}

interface FeedProps {
  posts: readonly PostCard[];
  pageInfo: { hasNextPage: boolean; endCursor?: string | null };
  viewerId?: string;
  more(): void;
}

export function FeedView({ posts, pageInfo, viewerId, more }: FeedProps) {
  return (
    <section aria-label="Feed" data-end-cursor={pageInfo.endCursor}>
      <ol>
        {posts.map((post) => (
          <li key={post.id} data-id={post.id} data-is-own={post.author.id === viewerId}>
            <Card {...post} />
          </li>
        ))}
      </ol>
      {pageInfo.hasNextPage && <button onClick={() => more()}>More</button>}
    </section>
  );
}

const Card = ({ title, author, likeCount, viewerHasLiked }: PostCard) => (
  <p>
    {`${title} by ${author.username} of ${author.postCount} posts, ${likeCount} likes`}
    {viewerHasLiked && ", one by you"}
  </p>
);

interface PostProps {
  post: PostCard & { version: number };
  likes: readonly { id: string; user: { username: string } }[];
  like(): void;
  unlike(): void;
  remove(): void;
  refresh(): void;
}

export function PostView({ post, likes, like, unlike, remove, refresh }: PostProps) {
  return (
    <article aria-label="Post">
      <Card {...post} />
      <p>Version {post.version}</p>
      <ul>
        {likes.map(({ id, user }) => (
          <li key={id} data-id={id}>
            {user.username}
          </li>
        ))}
      </ul>
      <button onClick={() => like()}>Like</button>
      <button onClick={() => unlike()}>Unlike</button>
      <button onClick={() => remove()}>Delete</button>
      <button onClick={() => refresh()}>Refresh</button>
    </article>
  );
}

export const NoPost = () => <p>This post does not exist.</p>;

interface FormProps {
  title: string;
  fields: readonly string[];
  // submit sends the values as `input`. It returns the errors of the answer.
  submit(values: Values): Promise<readonly BlogError[]>;
}

// Form shows each error beside the field that `extensions.field` names, and all others on top.
export function Form({ title, fields, submit }: FormProps) {
  const id = useId();
  const [values, setValues] = useState<Values>({});
  const [errors, setErrors] = useState<readonly BlogError[]>();
  const fieldOf = ({ extensions }: BlogError) => fields.find((field) => extensions?.field?.join() === `input,${field}`);
  const general = errors?.filter((error) => fieldOf(error) === undefined) ?? [];
  return (
    <form
      aria-label={title}
      onSubmit={async (event) => {
        event.preventDefault();
        setErrors(undefined);
        setErrors(await submit(values));
      }}
    >
      {general.map(({ message, extensions }) => (
        <p key={message} role="alert" data-code={extensions?.code}>
          {message}
        </p>
      ))}
      {fields.map((field) => {
        const message = errors?.find((error) => fieldOf(error) === field)?.message;
        return (
          <label key={field}>
            {field}
            <input
              aria-label={field}
              aria-invalid={message !== undefined}
              aria-errormessage={`${id}-${field}`}
              value={values[field] ?? ""}
              onChange={({ target }) => setValues({ ...values, [field]: target.value })}
            />
            <span id={`${id}-${field}`}>{message}</span>
          </label>
        );
      })}
      <button>Send</button>
      {errors?.length === 0 && <p role="status">Saved</p>}
    </form>
  );
}

interface TwoPostsProps {
  send(): Promise<{ posts: readonly (string | undefined)[]; errors: readonly BlogError[] }>;
}

// TwoPostsView creates two posts in one operation and shows the result of each.
export function TwoPostsView({ send }: TwoPostsProps) {
  const [lines, setLines] = useState<string[]>([]);
  return (
    <section aria-label="Two posts">
      <button
        onClick={async () => {
          const { posts, errors } = await send();
          setLines([
            ...posts.map((title) => title ?? "null"),
            ...errors.map(({ path, extensions }) => `${path?.join(".")}: ${extensions?.code}`),
          ]);
        }}
      >
        Create
      </button>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}
