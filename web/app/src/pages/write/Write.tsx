import { useClient } from 'urql';
import { isKeyUsed } from '../../api/faults';
import { useDraft } from '../../api/useDraft';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';
import { SignedIn } from '../../parts/SignedIn';
import { Title } from '../../parts/Title';
import { navigate } from '../../route';
import { PostFields } from './PostFields';
import { publish } from './publish';
import styles from './Write.module.css';

// Write is the form for a new post.
export function Write() {
  return (
    <>
      <Title text="New post" />
      <SignedIn purpose="to write a post">{() => <WriteForm />}</SignedIn>
    </>
  );
}

function WriteForm() {
  const client = useClient();
  const draft = useDraft('post', { title: '', content: '', tags: '' });
  const isEmpty = Object.values(draft.values).every((text) => !text);

  async function submit() {
    const { values, key } = draft.keep();
    const result = await publish(client, values, key);
    if ('faults' in result) {
      if (isKeyUsed(result.faults)) draft.renewKey();
      return result.faults;
    }
    draft.discard();
    announce('Your post is published.');
    navigate(`/posts/${result.id}`);
    return [];
  }
  return (
    <Form
      className={styles.form}
      submit={submit}
      action="Publish"
      beside={
        !isEmpty && (
          <button type="button" className="quiet" onClick={draft.discard}>
            Discard draft
          </button>
        )
      }
    >
      {(faults) => (
        <>
          <PostFields values={draft.values} change={draft.change} faults={faults} />
          <p className="hint">This browser keeps your draft until you publish it.</p>
        </>
      )}
    </Form>
  );
}
