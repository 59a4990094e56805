import type { OperationResult } from 'urql';
import { newStore } from '../../../shared/store';

// Request is one request of the server to Cosmos DB. If cached is true, the server had the answer in memory,
// which saved the charge of reading it.
export type Request = {
  path: (string | number)[];
  container: string;
  operation: string;
  partitionKey: string | string[];
  requestCharge: number;
  cached?: boolean;
  savedCharge?: number;
};

// Answer is what the server tells about one operation in `extensions.cosmos`: its price before it
// ran, its charge, and its requests. All charges are in RU.
export type Answer = { estimate: number; requestCharge: number; requests: Request[] };

// cost has the answers since the visit of the present place began. If a form led to it, they include
// the form's.
export const cost = newStore<Answer[]>([]);

export const resetCost = () => cost.set([]);

export function addCost(result: OperationResult) {
  const answer: Answer | undefined = result.extensions?.cosmos;
  if (answer) cost.set([...cost.get(), answer]);
}

// partitionsOf names the partitions that a request asks.
export const partitionsOf = ({ container, partitionKey }: Request) =>
  [partitionKey].flat().map((key) => `${container}/${key}`);

// ru formats an amount of RU, with two digits as the service reports it.
export const ru = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
