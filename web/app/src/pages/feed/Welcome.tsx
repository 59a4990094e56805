import { useState } from 'react';
import { useDraft } from '../../api/useDraft';
import { session, signIn, suggestedName, useViewer } from '../../api/session';
import { Field } from '../../parts/Field';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';
import { Title } from '../../parts/Title';
import { navigate } from '../../route';
import { PostFields } from '../write/PostFields';
import { publish } from '../write/publish';
import styles from './Welcome.module.css';

const example = {
  title: 'Hello, world',
  content:
    'This is the first post of a new blog. It is stored once, in “posts”. A moment later, the projector put short ' +
    'copies of it where lists are read. So every list is one request to one partition.\n\n' +
    'The line at the bottom shows what each page cost.',
  tags: 'hello',
};

// Welcome is the feed of an empty blog: a first post, filled in. One click signs in and publishes it.
export function Welcome() {
  const isSignedIn = useViewer() !== null;
  const [username, setUsername] = useState(suggestedName);
  const draft = useDraft('welcome', example);

  async function submit() {
    const { values, key } = draft.keep();
    const account = isSignedIn ? { client: session.get().client, keep() {}, faults: undefined } : await signIn(username);
    if (account.faults) return account.faults;
    const result = await publish(account.client, values, key);
    if ('faults' in result) return result.faults;
    account.keep();
    draft.discard();
    announce('Your first post is published.');
    navigate(`/posts/${result.id}`);
    return [];
  }
  return (
    <section className={styles.welcome}>
      <Title text="Your blog is empty" />
      <p className={styles.lead}>Change this first post, or publish it as it is.</p>
      <Form className={styles.form} submit={submit} action={isSignedIn ? 'Publish' : 'Sign in and publish'}>
        {(faults) => (
          <>
            <PostFields values={draft.values} change={draft.change} faults={faults} />
            {!isSignedIn && (
              <Field
                label="Your name"
                name="username"
                value={username}
                onChange={setUsername}
                faults={faults}
                autoComplete="username"
              />
            )}
          </>
        )}
      </Form>
    </section>
  );
}
