import { print } from "graphql";
import { CommentAddedDocument, PostChangedDocument } from "../generated/gql/graphql";
import type { Library } from "./library";
import { plainRead } from "./plain";

// follow follows a subscription until it is complete. It returns a function that stops it. EventSource
// connects again by itself, and sends the last cursor. But it gives up if the answer is not an event
// stream, such as a 503 of a load balancer. Then follow opens another one.
function follow(url: string, query: string, variables: any, next: (answer: any) => void, complete: () => void) {
  let events: EventSource;
  let waiting: ReturnType<typeof setTimeout>;
  function open() {
    events = new EventSource(`${url}?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`);
    events.addEventListener("next", ({ data, lastEventId }) => {
      if (lastEventId) variables = { ...variables, after: lastEventId };
      next(JSON.parse(data));
    });
    events.addEventListener("complete", () => {
      events.close(); // or it would connect again
      complete();
    });
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) waiting = setTimeout(open, 1000 + 1000 * Math.random());
    });
  }
  open();
  return () => {
    clearTimeout(waiting);
    events.close();
  };
}

const documents = { PostChanged: print(PostChangedDocument), CommentAdded: print(CommentAddedDocument) };

// eventSource is a browser's EventSource. It sends no token.
export const eventSource: Library = (connection) => ({
  read: plainRead(connection),
  shown: () => undefined,
  subscribe: (name, variables, sink) =>
    follow(
      connection.url,
      documents[name],
      variables,
      ({ data, errors }) => (errors ? sink.error(errors) : sink.next(data)),
      () => sink.complete(),
    ),
});
