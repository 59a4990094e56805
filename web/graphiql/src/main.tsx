import './workers';
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './style.css';
import { fetcher } from './api';
import { chargesPlugin } from './ChargePanel';
import { examplesPlugin } from './ExamplePanel';
import { examples } from './examples';
import { Footer } from './Footer';
import { isNarrow } from './narrow';
import { Price } from './Price';
import { SignIn } from './SignIn';

const { query, variables } = examples[0]!;
const firstTabs = [{ query, variables }];
const plugins = [HISTORY_PLUGIN, examplesPlugin, chargesPlugin];

createRoot(document.getElementById('root')!).render(
  <>
    <h1 className="hidden">GraphiQL of cosmosblog</h1>
    <GraphiQL
      fetcher={fetcher}
      plugins={plugins}
      visiblePlugin={isNarrow() ? undefined : examplesPlugin}
      defaultTabs={firstTabs}
      shouldPersistHeaders={false}
      showPersistHeadersSettings={false}
      defaultEditorToolsVisibility="variables"
      schemaDescription
    >
      <GraphiQL.Logo>
        <a className="logo" href="/">
          <img src="/playground/icon.svg" alt="" width="22" height="22" />
          cosmosblog
        </a>
      </GraphiQL.Logo>
      <GraphiQL.Toolbar>
        {({ prettify, copy, merge }) => (
          <>
            <SignIn />
            <Price />
            {prettify}
            {merge}
            {copy}
          </>
        )}
      </GraphiQL.Toolbar>
      <GraphiQL.Footer>
        <Footer />
      </GraphiQL.Footer>
    </GraphiQL>
  </>,
);
