import {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  type FetchFunction,
  type GraphQLResponse,
  type SubscribeFunction,
} from "relay-runtime";
import { live } from "./live";
import { send } from "./send";
import { url } from "./url";

const request: FetchFunction = async ({ text }, variables) => {
  const response = await send(url, {
    method: "POST",
    headers: { Accept: "application/graphql-response+json, application/json", "Content-Type": "application/json" },
    body: JSON.stringify({ query: text, variables }),
  });
  return (await response.json()) as GraphQLResponse;
};

const subscribe: SubscribeFunction = ({ text }, variables) =>
  Observable.create((sink) =>
    live.subscribe({ query: text!, variables }, {
      next: (answer) => sink.next(answer as GraphQLResponse),
      // If a subscription is not valid, graphql-ws passes a list of errors. Relay takes one.
      error: (error) => sink.error(Array.isArray(error) ? new Error(error[0].message) : (error as Error)),
      complete: () => sink.complete(),
    }),
  );

export const environment = new Environment({
  network: Network.create(request, subscribe),
  store: new Store(new RecordSource()),
  // Fragments with @throwOnFieldError throw an error of a field. Relay's own error would not have its message.
  relayFieldLogger(event) {
    if (event.kind === "relay_field_payload.error" && event.shouldThrow) throw new Error(event.error.message);
  },
});
