import { useState } from "react";
import { useMutation, type UseMutationConfig } from "react-relay";
import type { GraphQLTaggedNode, MutationParameters } from "relay-runtime";
import { errorsOf, type BlogError } from "./errors";

// useCommand returns a function that commits a mutation and returns its errors, the errors of the last
// answer, and whether an answer is awaited.
export function useCommand<Mutation extends MutationParameters>(
  mutation: GraphQLTaggedNode,
  updater?: UseMutationConfig<Mutation>["updater"],
) {
  const [commit, isSending] = useMutation<Mutation>(mutation);
  const [errors, setErrors] = useState<readonly BlogError[]>([]);
  const run = (variables: Mutation["variables"]) =>
    new Promise<readonly BlogError[]>((resolve) => {
      const finish = (errors: readonly BlogError[]) => {
        setErrors(errors);
        resolve(errors);
      };
      commit({
        variables,
        updater,
        onCompleted: (_, errors) => finish(errors ?? []),
        onError: (error) => finish(errorsOf(error)),
      });
    });
  return [run, errors, isSending] as const;
}
