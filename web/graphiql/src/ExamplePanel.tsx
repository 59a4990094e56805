import { useGraphiQLActions, type GraphiQLPlugin } from '@graphiql/react';
import { examples, type Example } from './examples';
import { ru } from './charges';
import { ExamplesIcon } from './icons';
import { isNarrow } from './narrow';
import { useExamples } from './tabs';

export const examplesPlugin: GraphiQLPlugin = { title: 'Examples', icon: ExamplesIcon, content: ExamplePanel };

// ExamplePanel lists the operations of the article. Each one opens in its tab.
function ExamplePanel() {
  const { setVisiblePlugin } = useGraphiQLActions();
  const { isActive, open } = useExamples();
  const choose = (example: Example) => {
    open(example);
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
              onClick={() => choose(example)}
              aria-current={isActive(example) ? 'true' : undefined}
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
