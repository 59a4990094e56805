// What graphql-ws and graphql-sse need to go on after an interruption.

// pause waits before another try: one to two seconds at first, later up to 30. As it is random, the
// clients of a server that stopped do not all connect at once.
export const pause = (tries: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, (1 + Math.random()) * Math.min(1000 * 2 ** tries, 15_000)));

// resumed returns a client whose subscriptions continue after the last element that they have received,
// so nothing is missed. They must select cursor, and have the variable $after. A persisted document is
// sent without its text.
export function resumed<Client extends { subscribe(payload: any, sink: any): () => void }>(client: Client): Client {
  return {
    ...client,
    subscribe(payload: any, sink: any) {
      const variables = { ...payload.variables }; // the client sends them again, as they are then
      const query = payload.extensions?.persistedQuery ? "" : payload.query;
      return client.subscribe({ ...payload, query, variables }, {
        next(answer: any) {
          const [element] = Object.values<any>(answer.data ?? {});
          if (element?.cursor) variables.after = element.cursor;
          if (answer.extensions?.gap) dispatchEvent(new Event("gap")); // posts have left the feed meanwhile
          sink.next(answer);
        },
        error: (error: unknown) => sink.error(error),
        complete: () => sink.complete(),
      });
    },
  };
}
