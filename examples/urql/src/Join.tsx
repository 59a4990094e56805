import { useMutation } from "urql";
import { name } from "./account";
import { Errors } from "./Errors";
import { CreateUserDocument } from "./generated/gql/graphql";

// Join gives an account a user. An account without one can read, but not write.
export function Join() {
  const [{ error }, create] = useMutation(CreateUserDocument);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create({ username: String(new FormData(event.currentTarget).get("username")) });
      }}
    >
      <label>
        Your username <input name="username" defaultValue={name} />
      </label>
      <button>Join</button>
      <Errors error={error} />
    </form>
  );
}
