import { useGraphiQL, useGraphiQLActions, type GraphiQLPlugin } from '@graphiql/react';
import { examples, type Example } from './examples';
import { ru } from './charges';
import { ExamplesIcon } from './icons';
import { isNarrow } from './narrow';

export const examplesPlugin: GraphiQLPlugin = { title: 'Examples', icon: ExamplesIcon, content: ExamplePanel };

// ExamplePanel lists the operations of the article. Each one opens in its tab.
function ExamplePanel() {
  const { addTab, changeTab, setVisiblePlugin } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);

  const find = ({ query }: Example) => tabs.findIndex((tab) => tab.query === query);
  const open = (example: Example) => {
    const index = find(example);
    if (index < 0) addTab();
    else if (index !== active) changeTab(index);
    queryEditor?.setValue(example.query);
    variableEditor?.setValue(example.variables); // with empty ids, so that stale ones are replaced
    if (isNarrow()) setVisiblePlugin(null);
  };
  return (
    <section className="examples" aria-labelledby="examples">
      <h2 id="examples" className="panel-title">
        Examples
      </h2>
      <p className="panel-text">
        The ten operations of the article that this blog implements. C are commands and need a{' '}
        <span className="nowrap">sign-in</span>, Q are queries. The charge is what the article measured. T are lists, and S
        subscriptions, that the article does not have.
      </p>
      <ol>
        {examples.map((example) => (
          <li key={example.code}>
            <button
              type="button"
              onClick={() => open(example)}
              aria-current={find(example) === active ? 'true' : undefined}
            >
              <span className="code">{example.code}</span>
              <span className="title">{example.title}</span>
              <span className="charge">{example.articleRU && ru(example.articleRU)}</span>
            </button>
          </li>
        ))}
      </ol>
      <p className="panel-text">
        An empty blog has nothing to read: sign in, and begin with C1. <code>cosmosblog seed --users 20</code> writes
        sample data.
      </p>
    </section>
  );
}
