import { apollo } from "./apollo";
import { eventSource } from "./eventSource";
import { graphqlSse } from "./graphqlSse";
import { graphqlWs } from "./graphqlWs";
import type { Library } from "./library";
import { relay } from "./relay";
import { urql } from "./urql";

export const libraries = {
  "graphql-ws": graphqlWs,
  "graphql-sse": graphqlSse,
  "Apollo Client": apollo,
  urql,
  Relay: relay,
  EventSource: eventSource,
} satisfies { [name: string]: Library };

export type LibraryName = keyof typeof libraries;
