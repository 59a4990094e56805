import {
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getRequest,
  graphql,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
  type FetchFunction,
  type GraphQLResponse,
  type SubscribeFunction,
} from "relay-runtime";
import type { relayLiveQuery } from "../generated/relay/relayLiveQuery.graphql";
import { connect } from "./graphqlWs";
import { faultsOf, type Library, type Post } from "./library";

const query = graphql`
  query relayLiveQuery($id: ID!) {
    post(id: $id) {
      id
      likeCount
      commentCount
      viewerHasLiked
      comments(first: 100) {
        pageInfo {
          endCursor
        }
      }
    }
  }
`;

const subscriptions = {
  PostChanged: graphql`
    subscription relayPostChangedSubscription($id: ID!) {
      postChanged(id: $id) {
        id
        likeCount
        commentCount
        viewerHasLiked
      }
    }
  `,
  CommentAdded: graphql`
    subscription relayCommentAddedSubscription($postId: ID!, $after: String) {
      commentAdded(postId: $postId, after: $after) {
        cursor
        node {
          id
          content
        }
      }
    }
  `,
};

export const relay: Library = (connection) => {
  const live = connect(connection);
  const fetchAnswer: FetchFunction = async ({ text }, variables) => {
    const response = await fetch(connection.url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${await connection.token()}` },
      body: JSON.stringify({ query: text, variables }),
    });
    return (await response.json()) as GraphQLResponse;
  };
  const subscribe: SubscribeFunction = ({ text }, variables) =>
    Observable.create((sink) =>
      live.subscribe({ query: text!, variables }, {
        next: (answer) => sink.next(answer as GraphQLResponse),
        // If a subscription is not valid, graphql-ws passes a list of errors. Relay takes one.
        error: (error) => sink.error(Array.isArray(error) ? Object.assign(new Error(error[0].message), { errors: error }) : (error as Error)),
        complete: () => sink.complete(),
      }),
    );
  const network = Network.create(fetchAnswer, subscribe);
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  return {
    async read(id) {
      environment.retain(createOperationDescriptor(getRequest(query), { id }));
      const data = await fetchQuery<relayLiveQuery>(environment, query, { id }).toPromise();
      return data!.post!.comments!.pageInfo.endCursor ?? "";
    },
    shown(id) {
      const { fragment } = createOperationDescriptor(getRequest(query), { id });
      return (environment.lookup(fragment).data as { post?: Post }).post;
    },
    subscribe(name, variables, sink) {
      const { dispose } = requestSubscription<any>(environment, {
        subscription: subscriptions[name],
        variables,
        onNext: (data) => sink.next(data),
        onError: (error: any) => sink.error(error.errors ?? error.source?.errors ?? faultsOf(error)),
        onCompleted: () => sink.complete(),
      });
      return dispose;
    },
  };
};
