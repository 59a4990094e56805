import report from '../models.json';
import type { Request } from './cost';

// The figures of `go run ./bench models --write`: RU and requests of the article's ten operations in
// each model. The last model is the one that this server has.
export const { command, partitions, models: operations } = report;
export type ModelName = keyof (typeof operations)[number]['measured'];
export const models = Object.keys(operations[0]!.measured) as ModelName[];
const served = models.at(-1)!;

// The article's operations, by the field that sends their requests to Cosmos DB, and by the kind of
// the request. Requests that no operation of the article has cost the same in every model.
const operationOf: Record<string, string> = {
  'viewer read': 'Q1',
  'user read': 'Q1',
  'post read': 'Q2',
  'posts query': 'Q3',
  'comments query': 'Q4',
  'likes query': 'Q5',
  'feed query': 'Q6',
  'createPost create': 'C2',
  'createComment execute': 'C3',
  'likePost execute': 'C4',
};

// chargeIn estimates the RU of a request in another model: its charge here, multiplied as the
// measured means of its operation differ.
export function chargeIn(model: ModelName, { path, operation, requestCharge }: Request) {
  const name = operationOf[`${path.findLast((step) => typeof step === 'string')} ${operation}`];
  const measured = operations.find((other) => other.operation === name)?.measured;
  return measured ? (requestCharge * measured[model].ru) / measured[served].ru : requestCharge;
}
