// The script of the page, which the tests in Node.js call. It has one client.
import { libraries, type LibraryName } from "./libraries";
import type { Client, Post, Subscription, Variables } from "./library";

declare global {
  // Functions of the tests.
  function newToken(): Promise<string>;
  function tellClosed(code: number): void;
  function tell(subscription: number, kind: "next" | "error" | "complete", value?: unknown): void;

  // Functions for the tests.
  var connect: (library: LibraryName, url: string) => void;
  var read: (id: string) => Promise<string>;
  var shown: (id: string) => Post | undefined;
  var subscribe: (number: number, name: Subscription, variables: Variables) => void;
  var unsubscribe: (number: number) => void;
}

let client: Client;
const ends = new Map<number, () => void>();

globalThis.connect = (library, url) => {
  client = libraries[library]({ url, token: newToken, closed: tellClosed });
};
globalThis.read = (id) => client.read(id);
globalThis.shown = (id) => client.shown(id);
globalThis.subscribe = (number, name, variables) => {
  ends.set(
    number,
    client.subscribe(name, variables, {
      next: (data) => tell(number, "next", data),
      error: (faults) => tell(number, "error", faults.map(({ message, extensions }) => ({ message, extensions }))),
      complete: () => tell(number, "complete"),
    }),
  );
};
globalThis.unsubscribe = (number) => ends.get(number)!();
