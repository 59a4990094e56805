import { useEffect, type MouseEvent, type ReactNode } from 'react';
import { Provider } from 'urql';
import { canSignIn, page } from './api/page';
import { rememberUsername, session, useSession } from './api/session';
import { useAgain } from './api/useRead';
import { Archive } from './pages/archive/Archive';
import { Month } from './pages/archive/Month';
import { Feed } from './pages/feed/Feed';
import { Post } from './pages/post/Post';
import { Tag } from './pages/tag/Tag';
import { User } from './pages/user/User';
import { Avatar } from './parts/Avatar';
import { CostBar } from './parts/CostBar';
import { Gone } from './parts/Gone';
import { Box, Pen, Warning } from './parts/Icons';
import { later } from './parts/later';
import { Notice } from './parts/Notice';
import { ThemeSwitch } from './parts/ThemeSwitch';
import { follow, route } from './route';

// Places that are seldom the first one of a visit.
const Edit = later(() => import('./pages/write/Edit').then(({ Edit }) => Edit));
const Models = later(() => import('./pages/models/Models').then(({ Models }) => Models));
const SignIn = later(() => import('./pages/sign-in/SignIn').then(({ SignIn }) => SignIn));
const Write = later(() => import('./pages/write/Write').then(({ Write }) => Write));

// App is the whole page: the place of the path, between header and footer.
export function App() {
  const { client } = session.use();
  const { path, visit } = route.use();
  return (
    <Provider value={client}>
      <div onClick={follow}>
        <a className="skip" href="#main" onClick={skip}>
          Skip to the content
        </a>
        <Header />
        {page.development && <CostBar />}
        <main id="main" key={visit} tabIndex={-1}>
          {placeOf(path)}
        </main>
        <Notice />
      </div>
    </Provider>
  );
}

// skip moves the focus to the content, and keeps the address as it is.
function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById('main')!.focus();
}

function placeOf(path: string): ReactNode {
  const [, name, id, action, ...rest] = path.replace(/\/$/, '').split('/').map(decoded);
  if (rest.length > 1) return <Gone what="page" />;
  switch (`/${name ?? ''}${id ? '/:id' : ''}${action ? `/${action}` : ''}${rest.length > 0 ? '/:id' : ''}`) {
    case '/':
      return <Feed />;
    case '/posts/:id':
      return <Post id={id!} />;
    case '/posts/:id/edit':
      return <Edit id={id!} />;
    case '/posts/:id/comments/:id':
      return <Post id={id!} commentId={rest[0]} />;
    case '/users/:id':
      return <User id={id!} />;
    case '/tags/:id':
      return <Tag name={id!} />;
    case '/archive':
      return <Archive />;
    case '/archive/:id':
      return <Month month={id!} />;
    case '/models':
      return <Models />;
    case '/write':
      return <Write />;
    case '/sign-in':
      return <SignIn />;
  }
  return <Gone what="page" />;
}

// decoded returns the text of a part of a path. A part that is not valid stays as it is.
function decoded(part: string) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Header() {
  const { account } = session.use();
  const { viewer, faults, retry } = useSession();
  const again = () => retry({ requestPolicy: 'network-only' });
  const isUnknown = account && !viewer && faults.length > 0;
  useAgain(faults, again);
  useEffect(() => {
    if (account && viewer) rememberUsername(account.name, viewer.username);
  }, [account, viewer]);
  return (
    <header className="bar">
      <a className="brand" href="/">
        <img src="/icon.svg" alt="" width="28" height="28" />
        cosmosblog
      </a>
      <nav aria-label="Main">
        {page.development && (
          <a className="button quiet" href="/playground">
            GraphiQL
          </a>
        )}
        <a className="button quiet" href="/archive">
          <Box /> <span className="hidden-on-phones">Archive</span>
        </a>
        <ThemeSwitch />
        <span className="space" />
        {viewer && (
          <>
            <a className="button primary" href="/write">
              <Pen /> <span className="hidden-on-phones">Write</span>
            </a>
            <a className="viewer" href={`/users/${viewer.id}`}>
              <Avatar user={viewer} />
              <span>{viewer.username}</span>
            </a>
          </>
        )}
        {isUnknown && (
          <button onClick={again}>
            <Warning /> <span className="hidden-on-phones">Your name was not read.</span> Try again
          </button>
        )}
        {viewer === null && !isUnknown && canSignIn && (
          <a className="button" href="/sign-in">
            Sign in
          </a>
        )}
      </nav>
    </header>
  );
}
