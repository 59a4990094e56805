// What graphql-ws and graphql-sse need to go on after an interruption.

// pause waits before another try: one to two seconds at first, later up to 30. As it is random, the
// clients of a server that stopped do not all connect at once.
export const pause = (tries: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, (1 + Math.random()) * Math.min(1000 * 2 ** tries, 15_000)));

type Fault = { extensions?: { code?: string; retryAfterMs?: number } };
const temporary = ["BUDGET_EXCEEDED", "INTERNAL", "LIMIT_EXCEEDED", "OVERLOADED", "THROTTLED", "TIMEOUT", "UNAVAILABLE"];
const areTemporary = (faults: unknown): faults is Fault[] =>
  Array.isArray(faults) && faults.some(({ extensions }: Fault) => temporary.includes(extensions?.code ?? ""));

// resumed returns a client whose subscriptions continue after the last element that they have received,
// so nothing is missed. They must select cursor, and have the variable $after. One that the server ends
// because it is busy begins again, after the time that the server asks for, or half a minute. A persisted
// document is sent without its text.
export function resumed<Client extends { subscribe(payload: any, sink: any): () => void }>(client: Client): Client {
  return {
    ...client,
    subscribe(payload: any, sink: any) {
      const variables = { ...payload.variables }; // the client sends them again, as they are then
      const query = payload.extensions?.persistedQuery ? "" : payload.query;
      let end = () => {};
      let waiting: ReturnType<typeof setTimeout>;
      function begin() {
        let faults: unknown; // of the last answer
        const beginLater = (after: Fault[]) => {
          waiting = setTimeout(begin, Math.max(1000, after[0]!.extensions?.retryAfterMs ?? 30_000));
        };
        end = client.subscribe({ ...payload, query, variables }, {
          next(answer: any) {
            faults = answer.errors;
            const [element] = Object.values<any>(answer.data ?? {});
            if (element?.cursor) variables.after = element.cursor;
            if (answer.extensions?.gap) globalThis.dispatchEvent?.(new Event("gap")); // posts have left the feed
            if (element || !areTemporary(faults)) sink.next(answer);
          },
          error: (error: unknown) => (areTemporary(error) ? beginLater(error) : sink.error(error)),
          complete: () => (areTemporary(faults) ? beginLater(faults) : sink.complete()),
        });
      }
      begin();
      return () => {
        clearTimeout(waiting);
        end();
      };
    },
  };
}
