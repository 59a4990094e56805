import type { BlogError } from "./errors";

// Errors shows the errors of an answer.
export const Errors = ({ errors }: { errors: readonly BlogError[] }) =>
  errors.map(({ message }, i) => (
    <p role="alert" key={i}>
      {message}
    </p>
  ));
