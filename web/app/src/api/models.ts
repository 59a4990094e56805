import report from '../models.json';
import type { Request } from './cost';

// The figures of `go run ./bench models --write`: RU and requests of the article's ten operations in
// each model, in a blog with some users and physical partitions. served is this server's model.
export const { command, users, partitions, models: operations } = report;

// articleRU returns the RU of an operation in the article, if the article has the model.
export function articleRU(operation: (typeof operations)[number], model: ModelName): number | undefined {
  return (operation.article as Partial<Record<ModelName, { ru: number }>>)[model]?.ru;
}

export type ModelName = keyof (typeof operations)[number]['measured'];
export const models = report.ladder as ModelName[];
export const served = report.served as ModelName;

// The article's operations, by the field that sends their requests to Cosmos DB, and by the kind of
// the request. Requests that no operation of the article has cost the same in every model.
const operationOf: Record<string, string> = {
  'viewer read': 'Q1',
  'user read': 'Q1',
  'post read': 'Q2',
  'posts query': 'Q3',
  'previousByAuthor query': 'Q3',
  'comments query': 'Q4',
  'likes query': 'Q5',
  'feed query': 'Q6',
  createUser: 'C1', // requests of any kind
  'createPost execute': 'C2',
  'createComment execute': 'C3',
  'likePost execute': 'C4',
};

// queryRU is the charge of a query without results in one physical partition.
const queryRU = 2.3;

// chargeIn estimates the RU of a request in another model, in a blog like the measured one. A list
// costs a query in each physical partition that it asks, and then in proportion to its elements. All
// other requests cost in proportion to the measured means of their operation.
export function chargeIn(model: ModelName, { path, operation, requestCharge }: Request) {
  const field = path.findLast((step) => typeof step === 'string');
  const name = operationOf[`${field} ${operation}`] ?? operationOf[`${field}`];
  const measured = operations.find((other) => other.operation === name)?.measured;
  if (!measured) return requestCharge;
  const isList = operation === 'query';
  const asked = name === 'Q3' || name === 'Q6' ? Math.min(measured[model].partitions, partitions) : 1;
  const [here, there] = isList ? [queryRU, asked * queryRU] : [0, 0];
  const elements = (requestCharge - here) / (measured[served].ru - here);
  return there + elements * (measured[model].ru - there);
}
