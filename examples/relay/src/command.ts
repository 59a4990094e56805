import { useState } from "react";
import { useMutation, type UseMutationConfig } from "react-relay";
import type { GraphQLTaggedNode, MutationParameters } from "relay-runtime";
import { errorsOf, type BlogError } from "./errors";

// useCommand returns a function that commits a mutation, and the errors of its last answer. The function
// returns whether there were none.
export function useCommand<Mutation extends MutationParameters>(
  mutation: GraphQLTaggedNode,
  updater?: UseMutationConfig<Mutation>["updater"],
) {
  const [commit] = useMutation<Mutation>(mutation);
  const [errors, setErrors] = useState<readonly BlogError[]>([]);
  const run = (variables: Mutation["variables"]) =>
    new Promise<boolean>((resolve) => {
      const finish = (errors: readonly BlogError[]) => {
        setErrors(errors);
        resolve(errors.length === 0);
      };
      commit({
        variables,
        updater,
        onCompleted: (_, errors) => finish(errors ?? []),
        onError: (error) => finish(errorsOf(error)),
      });
    });
  return [run, errors] as const;
}
