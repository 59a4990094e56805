// The part of docs/clients.md that the libraries graphql-ws and graphql-sse share.

// pause waits before another try: one to two seconds at first, later up to 30. As it is random, the
// clients of a server that stopped do not all connect at once.
export const pause = (tries: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, (1 + Math.random()) * Math.min(1000 * 2 ** tries, 15_000)));

// resumed returns a client of graphql-ws or graphql-sse whose subscriptions resume after the last
// comment. When such a client connects again, it sends the payload again, with its present variables.
export const resumed = <Client extends { subscribe(payload: any, sink: any): () => void }>(client: Client): Client => ({
  ...client,
  subscribe(payload: any, sink: any) {
    const variables = { ...payload.variables };
    return client.subscribe({ ...payload, variables }, {
      next(answer: any) {
        variables.after = answer.data?.commentAdded?.cursor ?? variables.after;
        sink.next(answer);
      },
      error: (error: unknown) => sink.error(error),
      complete: () => sink.complete(),
    });
  },
});
