import { useState } from 'react';
import { useMutation } from 'urql';
import { faultsOf } from '../../api/faults';
import { UpdateUserDocument } from '../../gql/graphql';
import { Field } from '../../parts/Field';
import { useOpener } from '../../parts/focus';
import { Form } from '../../parts/Form';
import { announce } from '../../parts/Notice';

// Rename is a button that opens the form for another username.
export function Rename({ viewer }: { viewer: { username: string } }) {
  const [isOpen, setOpen] = useState(false);
  const [username, setUsername] = useState(viewer.username);
  const [, update] = useMutation(UpdateUserDocument);
  async function submit() {
    const { data, error } = await update({ input: { username } });
    if (!data?.updateUser?.user) return faultsOf(error);
    announce(`Your name is ${username} now.`);
    setOpen(false);
    return [];
  }
  const opener = useOpener(isOpen);
  if (!isOpen) {
    return (
      <button ref={opener} onClick={() => setOpen(true)}>
        Change name
      </button>
    );
  }
  return (
    <Form
      takesFocus
      submit={submit}
      action="Rename"
      beside={
        <button type="button" onClick={() => setOpen(false)}>
          Cancel
        </button>
      }
    >
      {(faults) => (
        <Field label="New name" name="username" value={username} onChange={setUsername} faults={faults} />
      )}
    </Form>
  );
}
