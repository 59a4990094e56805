// The part of docs/clients.md that the libraries graphql-ws and graphql-sse share.

// pause waits before a further try: for one to two seconds at first, and for 30 at most. So many
// clients do not come back at once.
export const pause = (tries: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, (1 + Math.random()) * Math.min(1000 * 2 ** tries, 15_000)));

// resumed returns the client with subscriptions that go on after the last comment. When it connects
// again, it sends the payload once more, as that is then.
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
