import { useMutation } from "@apollo/client/react";
import { name } from "./account";
import { Errors } from "./Errors";
import { CreateUserDocument } from "./generated/gql/graphql";

// Join gives an account a user. An account without one can read, but not write.
export function Join() {
  const [create, { error }] = useMutation(CreateUserDocument, { refetchQueries: ["Feed"] });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const username = String(new FormData(event.currentTarget).get("username"));
        create({ variables: { username } }).catch(() => {}); // error has it
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
