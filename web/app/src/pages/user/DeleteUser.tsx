import { useState } from 'react';
import { useMutation } from 'urql';
import { faultsOf } from '../../api/faults';
import { signOut } from '../../api/session';
import { DeleteUserDocument } from '../../gql/graphql';
import { Field } from '../../parts/Field';
import { useOpener } from '../../parts/focus';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';
import { navigate } from '../../route';

// DeleteUser is a button that opens a form, in which a user confirms the deletion by their name.
export function DeleteUser() {
  const [isOpen, setOpen] = useState(false);
  const [username, setUsername] = useState('');
  const [, remove] = useMutation(DeleteUserDocument);
  const opener = useOpener(isOpen);
  async function submit() {
    const { data, error } = await remove({ input: { username } });
    // An earlier try, whose answer was lost, may have deleted the user.
    const faults = faultsOf(error).filter(({ code }) => code !== 'DELETION_UNDER_WAY');
    if (!data?.deleteUser?.user && faults.length > 0) return faults;
    signOut();
    announce('You are deleted. Your posts, comments and likes go within a minute.');
    navigate('/');
    return [];
  }
  if (!isOpen) {
    return (
      <button ref={opener} className="quiet" onClick={() => setOpen(true)}>
        Delete yourself
      </button>
    );
  }
  return (
    <Form
      takesFocus
      submit={submit}
      action="Delete me for good"
      beside={
        <button type="button" onClick={() => setOpen(false)}>
          Cancel
        </button>
      }
    >
      {(faults) => (
        <Field
          label="Your name"
          name="username"
          value={username}
          onChange={setUsername}
          faults={faults}
          hint="This deletes you with all your posts, comments and likes. Type your name to confirm it."
          autoCapitalize="none"
        />
      )}
    </Form>
  );
}
