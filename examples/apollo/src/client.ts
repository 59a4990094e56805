import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { relayStylePagination } from "@apollo/client/utilities";
import { live } from "./live";
import { send } from "./send";
import { url } from "./url";

const cache = new InMemoryCache({
  typePolicies: {
    Query: { fields: { feed: relayStylePagination() } },
    User: { fields: { posts: relayStylePagination() } },
    Post: { fields: { comments: relayStylePagination(["order"]), likes: relayStylePagination() } },
    Tag: { keyFields: ["name"] },
    ArchiveMonth: { keyFields: ["month"] },
  },
});

// persisted sends the hash of a document, which codegen.ts has put into it, in place of its text.
const persisted = new PersistedQueryLink({
  generateHash: (document: any) => document.__meta__.hash.replace("sha256:", ""),
  disable: () => false,
  retry: () => false,
  useGETForHashedQueries: true,
});

const terminating = ApolloLink.split(
  ({ operationType }) => operationType === "subscription",
  new GraphQLWsLink(live),
  new HttpLink({ uri: url, fetch: send }),
);

export const client = new ApolloClient({
  cache,
  // A server with the documents of a build has them all (--documents).
  link: import.meta.env.VITE_PERSISTED ? persisted.concat(terminating) : terminating,
});
