import {
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
  type FetchFunction,
  type GraphQLResponse,
  type RequestParameters,
  type SubscribeFunction,
} from "relay-runtime";
import type { BlogError } from "./errors";
import { live } from "./live";
import { send } from "./send";
import { url } from "./url";

// If the server has the documents of a build (--documents), their ids are sent in place of their texts.
const isPersisted = Boolean(import.meta.env.VITE_PERSISTED);
const documentOf = ({ id, text }: RequestParameters) => (isPersisted ? { documentId: id, query: "" } : { query: text! });

const Accept = "application/graphql-response+json, application/json";

const request: FetchFunction = async (parameters, variables) => {
  const query = new URLSearchParams({ documentId: parameters.id ?? "", variables: JSON.stringify(variables) });
  const response =
    isPersisted && parameters.operationKind === "query"
      ? await send(`${url}?${query}`, { method: "GET", headers: { Accept } })
      : await send(url, {
          method: "POST",
          headers: { Accept, "Content-Type": "application/json" },
          body: JSON.stringify({ ...documentOf(parameters), variables }),
        });
  const answer = (await response.json()) as GraphQLResponse & { errors?: BlogError[] };
  // The data beside an error would replace what the store has, such as a list by null.
  const isQuery = parameters.operationKind === "query";
  if (isQuery && answer.errors) throw Object.assign(new Error(answer.errors[0]!.message), { source: answer });
  return answer;
};

const subscribe: SubscribeFunction = (parameters, variables) =>
  Observable.create((sink) =>
    live.subscribe({ ...documentOf(parameters), variables }, {
      next: (answer) => sink.next(answer as GraphQLResponse),
      // If a subscription is not valid, graphql-ws passes a list of errors. Relay takes one.
      error: (error) => sink.error(Array.isArray(error) ? new Error(error[0].message) : (error as Error)),
      complete: () => sink.complete(),
    }),
  );

export const environment = new Environment({
  network: Network.create(request, subscribe),
  store: new Store(new RecordSource()),
});
