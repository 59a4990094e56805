import { errorsOf } from "./errors";

// Errors shows the errors of a result.
export const Errors = ({ error }: { error: Error | undefined }) =>
  errorsOf(error).map(({ message }, i) => (
    <p role="alert" key={i}>
      {message}
    </p>
  ));
