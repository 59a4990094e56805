import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
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

export const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === "subscription",
    new GraphQLWsLink(live),
    new HttpLink({ uri: url, fetch: send }),
  ),
});
