import { useEffect, useState } from 'react';
import type { Fault } from '../../api/faults';
import type { Place } from '../../api/issuer';
import { finishSignIn, isFromIssuer, useSession } from '../../api/session';
import { FaultBox } from '../../parts/FaultBox';
import { SignInForm, signInHint } from '../../parts/SignInForm';
import { Title } from '../../parts/Title';
import { left, navigate } from '../../route';

// SignIn is the page for signing in. Afterwards, the reader is back at the place before. An issuer sends
// people back to this page, and those without a user then choose their name.
export function SignIn() {
  const { viewer, faults, retry } = useSession();
  const [isReturning, setReturning] = useState(isFromIssuer);
  const [place, setPlace] = useState<Place>(); // to which the issuer's answer leads
  const [refusal, setRefusal] = useState<Fault[]>([]);
  useEffect(() => {
    if (!isReturning) return;
    void finishSignIn().then((result) => {
      if (result.faults) setRefusal(result.faults);
      else setPlace(result.place);
      setReturning(false);
    });
  }, [isReturning]);
  useEffect(() => {
    if (!place || !viewer) return;
    history.replaceState(null, '', place.path); // nobody wants to go back to this page
    navigate(place.path, { isLiking: place.isLiking });
  }, [place, viewer]);
  function done() {
    if (place) return; // the viewer is there now
    if (left().from) history.back();
    else navigate('/');
  }
  return (
    <section className="panel">
      <Title text="Sign in" />
      <FaultBox faults={[...refusal, ...faults]} retry={() => retry({ requestPolicy: 'network-only' })} />
      {signInHint && <p>In development, a name is enough. A new name makes a new user.</p>}
      {!isReturning && viewer === null && <SignInForm done={done} />}
    </section>
  );
}
