import { CombinedGraphQLErrors } from "@apollo/client";
import type { ErrorCode } from "./generated/gql/enums";

// BlogError is an error of an answer. field is the path of the invalid input, such as
// ["input", "title"].
export type BlogError = { message: string; extensions?: { code?: ErrorCode; field?: string[] } };

// errorsOf returns the errors of a result. Failures of the network are errors too.
export function errorsOf(error: Error | undefined): BlogError[] {
  if (CombinedGraphQLErrors.is(error)) return error.errors as BlogError[];
  return error ? [error] : [];
}
