import { useMemo } from 'react';
import { Provider } from 'urql';
import { newClient } from './api/client';
import { Feed } from './pages/Feed';

// App is the whole page, with a client of its own.
export function App() {
  const client = useMemo(newClient, []);
  return (
    <Provider value={client}>
      <header className="bar">
        <a className="brand" href="/">
          <img src="/icon.svg" alt="" width="28" height="28" />
          cosmosblog
        </a>
        <nav aria-label="Tools">
          <a href="/playground">GraphiQL</a>
        </nav>
      </header>
      <main>
        <Feed />
      </main>
    </Provider>
  );
}
