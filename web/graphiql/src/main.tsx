import './workers';
import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';

createRoot(document.getElementById('root')!).render(
  <GraphiQL
    fetcher={async (params) => {
      const response = await fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(params),
      });
      return response.json();
    }}
  />,
);
