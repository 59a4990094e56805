import { Button, Dialog, ToolbarButton, useGraphiQL } from '@graphiql/react';
import { useEffect, useId, useState, type FormEvent } from 'react';
import { findIds, token } from './api';
import { emptyIds, fill } from './examples';
import { KeyIcon } from './icons';
import { change, headers, useSession, withSession } from './session';

// SignIn is a button of the toolbar. It opens a dialog that signs in by name, and it keeps the headers
// and variables of the active tab up to date with the session.
export function SignIn() {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  useSignInRequests(() => setOpen(true));
  useSessionInHeaders();
  useIdsInVariables();
  return (
    <>
      <ToolbarButton
        label={session ? `Signed in as ${session.name}` : 'Sign in with a development token'}
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
  const [name, setName] = useState(session?.name ?? 'anna');
  const [fault, setFault] = useState('');
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    try {
      change({ name, token: await token(name) });
      onDone();
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form className="graphiql-dialog-section sign-in" onSubmit={signIn}>
      <Dialog.Description>
        In development, the server signs in any name. The token is set in the headers of the tabs, and is valid for a
        week.
      </Dialog.Description>
      <label htmlFor={field}>Name</label>
      <input
        id={field}
        value={name}
        onChange={(event) => setName(event.target.value)}
        required
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
          <Button type="button" onClick={() => (change(), onDone())}>
            Sign out
          </Button>
        )}
        <Button type="submit" state="success">
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

const activeTab = (state: { tabs: { id: string }[]; activeTabIndex: number }) => state.tabs[state.activeTabIndex]?.id;

// useSessionInHeaders writes the token of the session to the headers of the active tab.
function useSessionInHeaders() {
  const session = useSession();
  const editor = useGraphiQL((state) => state.headerEditor);
  const tab = useGraphiQL(activeTab);
  useEffect(() => {
    const old = editor?.getValue() ?? '';
    const text = withSession(old);
    if (text !== old) editor?.setValue(text);
  }, [session, editor, tab]);
}

// useIdsInVariables fills the empty ids of an example when its tab is shown, and when an operation has
// been executed, which may have created what an example needs.
function useIdsInVariables() {
  const session = useSession();
  const editor = useGraphiQL((state) => state.variableEditor);
  const tab = useGraphiQL(activeTab);
  const isFetching = useGraphiQL((state) => state.isFetching);
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query);
  useEffect(() => {
    const text = editor?.getValue() ?? '';
    const names = emptyIds(text);
    if (!editor || isFetching || names.length === 0) return;
    let isCurrent = true;
    const needsQuery = names.some((name) => name !== 'username');
    const found = needsQuery ? findIds(headers()) : Promise.resolve({});
    found.then(
      (ids) => {
        const filled = fill(text, { ...ids, username: session?.name });
        if (isCurrent && editor.getValue() === text && filled !== text) editor.setValue(filled);
      },
      () => {}, // the server is gone: the ids stay empty, and running the example shows why
    );
    return () => {
      isCurrent = false;
    };
  }, [session, editor, tab, isFetching, query]);
}
