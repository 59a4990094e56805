import { makeResult, stringifyVariables, type Exchange, type Operation } from 'urql';
import { filter, map, merge, pipe, share } from 'wonka';
import { session } from '../../../shared/session';
import { hasWritten } from '../../../shared/written';
import { route } from '../route';
import { idOf } from './ids';
import { page, type Preloaded } from './page';

// preloadedExchange answers the first queries of a page with what its HTML has.
export const preloadedExchange: Exchange =
  ({ forward }) =>
  (operations) => {
    const asked = pipe(
      operations,
      map((operation) => ({ operation, answer: take(operation) })),
      share,
    );
    const answered = pipe(
      asked,
      filter(({ answer }) => answer !== undefined),
      map(({ operation, answer }) => makeResult(operation, { ...answer, hasNext: false })),
    );
    const sent = pipe(
      asked,
      filter(({ answer }) => answer === undefined),
      map(({ operation }) => operation),
      forward,
    );
    return merge([answered, sent]);
  };

// isOf returns a function that reports whether a preloaded answer is that to a query.
const isOf =
  (document: object, variables: unknown = {}) =>
  (preloaded: Omit<Preloaded, 'answer'>) =>
    preloaded.id === idOf(document) && stringifyVariables(preloaded.variables) === stringifyVariables(variables);

// take returns the answer to a query, once: a further try is about what is newer.
function take({ kind, query, variables }: Operation) {
  if (kind !== 'query' || !isFirst()) return;
  const index = answers.findIndex(isOf(query, variables));
  return index < 0 ? undefined : answers.splice(index, 1)[0]!.answer;
}

// An account that has just written something may miss it in the HTML, which is written for everybody.
const answers = hasWritten(session.get()?.name) ? [] : (page.preloaded ?? []);
const queries = answers.map(({ id, variables }) => ({ id, variables }));
const isFirst = () => route.get().visit === 0;

// isPreloaded reports whether the page came with the answer to a query, so that a place need not read it.
export const isPreloaded = (document: object, variables: object) => isFirst() && queries.some(isOf(document, variables));
