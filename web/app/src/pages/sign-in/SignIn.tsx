import { SignInForm } from '../../parts/SignInForm';
import { Title } from '../../parts/Title';
import { left, navigate } from '../../route';

// SignIn is the page for signing in. Afterwards, the reader is back at the place before.
export function SignIn() {
  const done = () => (left().hasBefore ? history.back() : navigate('/'));
  return (
    <section className="panel">
      <Title text="Sign in" />
      <p>In development, a name is enough. A new name makes a new user.</p>
      <SignInForm done={done} />
    </section>
  );
}
