import { graphql } from "react-relay";
import { name } from "./account";
import { useCommand } from "./command";
import { Errors } from "./Errors";
import type { JoinMutation } from "./generated/relay/JoinMutation.graphql";

// Join gives an account a user. An account without one can read, but not write.
export function Join() {
  const [create, errors] = useCommand<JoinMutation>(
    graphql`
      mutation JoinMutation($username: String!) {
        createUser(input: { username: $username }) {
          user {
            id
            username
          }
        }
      }
    `,
    (store) => {
      const user = store.getRootField("createUser")?.getLinkedRecord("user");
      if (user) store.getRoot().setLinkedRecord(user, "viewer");
    },
  );
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
      <Errors errors={errors} />
    </form>
  );
}
