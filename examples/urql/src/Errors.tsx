import type { CombinedError } from "urql";
import type { ErrorCode } from "./generated/gql/enums";

// BlogError is an error of an answer. field is the path of the invalid input, such as
// ["input", "title"].
export type BlogError = { message: string; extensions?: { code?: ErrorCode; field?: string[] } };

// errorsOf returns the errors of a result. Failures of the network are errors too.
export function errorsOf(error: CombinedError | undefined): BlogError[] {
  if (!error) return [];
  return error.networkError ? [error.networkError] : (error.graphQLErrors as BlogError[]);
}

// Errors shows the errors of a result.
export const Errors = ({ error }: { error: CombinedError | undefined }) =>
  errorsOf(error).map(({ message }, i) => (
    <p role="alert" key={i}>
      {message}
    </p>
  ));
