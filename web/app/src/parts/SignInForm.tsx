import { useState } from 'react';
import { signIn, suggestedName } from '../api/session';
import { announce } from './Notice';
import { Field } from './Field';
import { Form } from './Form';
import styles from './SignInForm.module.css';

// SignInForm signs in by name, with one click: a name is filled in.
export function SignInForm({ done }: { done?: () => void }) {
  const [username, setUsername] = useState(suggestedName);
  async function submit() {
    const result = await signIn(username);
    if (result.faults) return result.faults;
    result.keep();
    announce(`You are signed in as ${result.username}.`);
    if (done) done();
    else document.querySelector('h1')?.focus(); // the form goes away
    return [];
  }
  return (
    <Form className={styles.form} submit={submit} action="Sign in">
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
