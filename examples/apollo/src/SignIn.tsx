import { useState } from "react";
import { fault as earlier, name, signIn, signOut } from "./account";

// SignIn shows who is signed in, or signs in. A server in development signs in any name; an issuer asks
// for a name itself.
export function SignIn() {
  const [fault, setFault] = useState(earlier);
  if (name) {
    return (
      <p>
        Signed in as {name}. <button onClick={signOut}>Sign out</button>
      </p>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const name = String(new FormData(event.currentTarget).get("name") ?? "");
        signIn(name).catch((error) => setFault(error.message));
      }}
    >
      {!import.meta.env.VITE_ISSUER && <input name="name" aria-label="Name" placeholder="anna" required />}
      <button>Sign in</button>
      {fault && <p role="alert">{fault}</p>}
    </form>
  );
}
