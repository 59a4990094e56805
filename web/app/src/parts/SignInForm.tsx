import { useState } from 'react';
import { useClient } from 'urql';
import { faultsOf, type Fault } from '../api/faults';
import { canSignIn, page } from '../api/page';
import { session, signIn, signInAtIssuer, suggestedName } from '../api/session';
import { CreateUserDocument } from '../gql/graphql';
import { left } from '../route';
import { announce } from './Notice';
import { Field } from './Field';
import { Form } from './Form';
import styles from './SignInForm.module.css';

// signInHint is the rest of a sentence about signing in.
export const signInHint = page.development ? ' In development, a name is enough.' : '';

// SignInForm signs in, by the issuer that the server trusts. In development, it does so by name with one
// click: a name is filled in. An account without a user gets one.
export function SignInForm({ done }: { done?: () => void }) {
  const { account, isExpired } = session.use();
  if (!canSignIn) return <p>This server signs nobody in.</p>;
  if (page.development) return <NameForm action="Sign in" initial={suggestedName()} submit={submit} />;
  if (account && !isExpired) return <UserForm done={done} />;
  return (
    <Form className={styles.form} submit={() => signInAtIssuer(placeOf())} action="Sign in">
      {() => null}
    </Form>
  );

  async function submit(username: string) {
    const result = await signIn(username);
    if (result.faults) return result.faults;
    result.keep();
    announce(`You are signed in as ${result.username}.`);
    return leave(done);
  }
}

// placeOf returns where the person is, or was before the page for signing in.
function placeOf() {
  const { from = '/', isLiking } = left();
  return location.pathname === '/sign-in' ? { path: from, isLiking } : { path: location.pathname };
}

// UserForm creates the user of an account.
function UserForm({ done }: { done?: () => void }) {
  const client = useClient();
  async function submit(username: string) {
    const { error } = await client.mutation(CreateUserDocument, { input: { username: username.trim() } });
    if (error) return faultsOf(error);
    announce(`You are signed in as ${username.trim()}.`);
    return leave(done);
  }
  return (
    <>
      <p>Choose the name that others see.</p>
      <NameForm action="Go on" initial="" submit={submit} />
    </>
  );
}

function leave(done?: () => void): Fault[] {
  if (done) done();
  else document.querySelector('h1')?.focus(); // the form goes away
  return [];
}

type NameFormProps = { action: string; initial: string; submit: (username: string) => Promise<Fault[]> };

function NameForm({ action, initial, submit }: NameFormProps) {
  const [username, setUsername] = useState(initial);
  return (
    <Form className={styles.form} submit={() => submit(username)} action={action}>
      {(faults) => (
        <Field
          label="Your name"
          name="username"
          value={username}
          onChange={setUsername}
          faults={faults}
          autoComplete="username"
        />
      )}
    </Form>
  );
}
