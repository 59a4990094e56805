// The charges of the answers since the page was loaded.
import { useSyncExternalStore } from 'react';
import type { ExecutionResult } from 'graphql';

// Sent is a request to Cosmos DB, as extensions.cosmos lists it.
export interface Sent {
  path: (string | number)[];
  container: string;
  operation: string;
  partitionKey: string | string[];
  requestCharge: number;
  status: number;
  cached?: boolean;
  savedCharge?: number; // of a cached read: what it cost once
}

// Answer is an answer to an operation of the editor. Those of a subscription have no time, because they
// come when something happens.
export interface Answer {
  milliseconds?: number;
  bytes: number;
  codes: string[]; // of its errors
  // cosmos is missing if the request was rejected.
  cosmos?: { estimate: number; requestCharge: number; requests: Sent[] };
}

// Charges is the last answer, and the sums over all answers but those of subscriptions, whose charges
// are unknown.
export interface Charges {
  last?: Answer;
  answers: number;
  total: number;
}

let charges: Charges = { answers: 0, total: 0 };
const listeners = new Set<() => void>();

// record adds an answer.
export function record({ result, ...measured }: { result: ExecutionResult; milliseconds?: number; bytes: number }) {
  const cosmos = result.extensions?.cosmos as Answer['cosmos'];
  const codes = (result.errors ?? []).map((error) => String(error.extensions?.code ?? ''));
  charges = {
    last: { ...measured, codes, cosmos },
    answers: charges.answers + (measured.milliseconds === undefined ? 0 : 1),
    total: charges.total + (cosmos?.requestCharge ?? 0),
  };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// useCharges returns the charges, and renders again when they change.
export const useCharges = () => useSyncExternalStore(subscribe, () => charges);

// ru formats a charge, as the service reports it: with two digits.
export const ru = (charge: number) => `${charge.toLocaleString('en', { maximumFractionDigits: 2 })} RU`;
