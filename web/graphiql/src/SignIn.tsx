import { Button, Dialog, ToolbarButton } from '@graphiql/react';
import { useEffect, useId, useState, type FormEvent } from 'react';
import { reasonOf } from '../../shared/fetch';
import { begin, requestSession, signOut, suggestedName, usernameOf } from '../../shared/session';
import { readUsername } from './api';
import { KeyIcon } from './icons';
import { useSession } from './session';

// SignIn is a button of the toolbar. It opens a dialog that signs in by name.
export function SignIn() {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  useSignInRequests(() => setOpen(true));
  return (
    <>
      <ToolbarButton
        label={session ? `Signed in as ${usernameOf(session.name)}` : 'Sign in with a development token'}
        className={session && 'signed-in'}
        onClick={() => setOpen(true)}
      >
        <KeyIcon />
      </ToolbarButton>
      <Dialog open={isOpen} onOpenChange={setOpen}>
        <div className="graphiql-dialog-header">
          <Dialog.Title className="graphiql-dialog-title">Sign in</Dialog.Title>
          <Dialog.Close />
        </div>
        <SignInForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function SignInForm({ onDone }: { onDone(): void }) {
  const session = useSession();
  const field = useId();
  const [name, setName] = useState(suggestedName);
  const [fault, setFault] = useState('');
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    try {
      begin((await requestSession(name, readUsername)).account);
      onDone();
    } catch (error) {
      setFault(reasonOf(error));
    }
  };
  return (
    <form className="sign-in" onSubmit={signIn}>
      <Dialog.Description>
        In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s
        headers have another.
      </Dialog.Description>
      <label htmlFor={field}>Name</label>
      <input
        id={field}
        value={name}
        onChange={(event) => setName(event.target.value)}
        required
        autoFocus
        maxLength={255}
        autoComplete="username"
        spellCheck={false}
        aria-invalid={fault !== ''}
        aria-describedby={`${field}-fault`}
      />
      <p id={`${field}-fault`} className="fault" role="alert">
        {fault}
      </p>
      <div className="buttons">
        {session && (
          <Button type="button" onClick={() => (signOut(), onDone())}>
            Sign out
          </Button>
        )}
        <Button type="submit" className="primary">
          Sign in
        </Button>
      </div>
    </form>
  );
}

// requestSignIn opens the dialog from elsewhere.
const requests = new EventTarget();
export const requestSignIn = () => requests.dispatchEvent(new Event('sign-in'));

function useSignInRequests(open: () => void) {
  useEffect(() => {
    requests.addEventListener('sign-in', open);
    return () => requests.removeEventListener('sign-in', open);
  }, [open]);
}
