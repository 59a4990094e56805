// BlogError is an error of an answer. field is the path of the invalid input, such as
// ["input", "title"].
export type BlogError = { message: string; extensions?: { code?: string; field?: string[] } };

// errorsOf returns the errors of a failed request. Relay reports an answer without data as an error
// whose source is the answer.
export function errorsOf(error: Error & { source?: { errors?: BlogError[] } }): readonly BlogError[] {
  return error.source?.errors ?? [error];
}
