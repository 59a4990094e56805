import { Button, useGraphiQLActions } from '@graphiql/react';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import { reasonOf } from '../../shared/fetch';
import { useFoldedExtensions } from './answer';
import { ask } from './api';
import { chargesPlugin } from './ChargePanel';
import { ru, useCharges, type Sent } from './charges';
import { useSession } from './session';
import { requestSignIn } from './SignIn';
import { useActiveTab } from './tabs';

// Footer is the line below an answer: what it cost, and the next step if it was refused.
export function Footer() {
  useActiveTab();
  useFoldedExtensions();
  const showCharges = useShowCharges();
  const { last } = useCharges();
  if (!last) return <p className="footer">The charge of each answer is shown here.</p>;
  return (
    <div className="footer" role="status">
      {last.cosmos && (
        <Button type="button" className="total" onClick={showCharges}>
          {ru(last.cosmos.requestCharge)}
        </Button>
      )}
      {last.cosmos && <span>{requests(last.cosmos.requests)}</span>}
      <span>{last.milliseconds === undefined ? 'live' : `${Math.round(last.milliseconds)} ms`}</span>
      <span>{size(last.bytes)}</span>
      <NextStep codes={last.codes} />
    </div>
  );
}

// useShowCharges returns a function that shows the panel of charges. Only the buttons of the sidebar
// can open a side panel that is hidden, so the function clicks the one of this panel.
function useShowCharges() {
  const { setVisiblePlugin } = useGraphiQLActions();
  return () => {
    flushSync(() => setVisiblePlugin(null)); // the button would hide a panel that is set already
    document.querySelector<HTMLElement>(`[aria-label="Show ${chargesPlugin.title}"]`)!.click();
  };
}

function requests(all: Sent[]): string {
  const sent = all.filter((request) => !request.cached).length;
  const kept = all.length - sent;
  if (kept > 0 && sent === 0) return `${kept} cached`;
  const text = `${sent} ${sent === 1 ? 'request' : 'requests'}`;
  return kept > 0 ? `${text}, ${kept} cached` : text;
}

const size = (bytes: number) => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`);

// NextStep offers what a refused operation needs: a sign-in, or a user for the account.
function NextStep({ codes }: { codes: string[] }) {
  const session = useSession();
  const { run } = useGraphiQLActions();
  const [fault, setFault] = useState('');
  if (codes.includes('UNAUTHENTICATED')) {
    return (
      <Button type="button" className="next" onClick={requestSignIn}>
        Sign in
      </Button>
    );
  }
  if (!codes.includes('USER_REQUIRED') || !session) return null;
  const createUser = async () => {
    const mutation = 'mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }';
    try {
      await ask(mutation, { username: session.name });
      run();
    } catch (error) {
      setFault(reasonOf(error));
    }
  };
  return (
    <>
      <Button type="button" className="next" onClick={createUser}>
        Create the user {session.name}
      </Button>
      {fault && <span className="fault">{fault}</span>}
    </>
  );
}
