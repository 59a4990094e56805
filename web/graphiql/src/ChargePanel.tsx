import type { GraphiQLPlugin } from '@graphiql/react';
import { ru, useCharges, type Sent } from './charges';
import { ChargesIcon } from './icons';

export const chargesPlugin: GraphiQLPlugin = { title: 'Request charges', icon: ChargesIcon, content: ChargePanel };

// ChargePanel lists the requests to Cosmos DB of the last answer, with their charges.
function ChargePanel() {
  const { last, answers, total } = useCharges();
  const cosmos = last?.cosmos;
  return (
    <section className="charges" aria-labelledby="charges">
      <h2 id="charges" className="panel-title">
        Request charges
      </h2>
      {!last && <p className="panel-text">Run an operation to see what it costs in request units (RU).</p>}
      {last && !cosmos && (
        <p className="panel-text">
          {last.milliseconds === undefined
            ? 'Answers of subscriptions do not show their charges.'
            : 'The last answer has no charges, because it was rejected before it was executed.'}
        </p>
      )}
      {cosmos && (
        <>
          <dl>
            <Figure name="RU charged" value={String(cosmos.requestCharge)} />
            <Figure name="RU estimated" value={String(cosmos.estimate)} />
            <Figure name="Requests" value={String(cosmos.requests.filter((sent) => !sent.cached).length)} />
          </dl>
          <div className="scroll" tabIndex={0} role="region" aria-label="Requests to Cosmos DB">
            <table>
              <thead>
                <tr>
                  <th scope="col">Field and request</th>
                  <th scope="col" className="number">
                    RU
                  </th>
                </tr>
              </thead>
              <tbody>
                {cosmos.requests.map((sent, index) => (
                  <Request key={index} sent={sent} />
                ))}
              </tbody>
            </table>
          </div>
          {cosmos.requests.some((sent) => sent.cached) && (
            <p className="panel-text">
              A cached read cost nothing, because nothing was written to its partition since it was last read.
            </p>
          )}
        </>
      )}
      {answers > 0 && (
        <p className="panel-text">
          {ru(total)} in {answers} {answers === 1 ? 'answer' : 'answers'} since this page was loaded.
        </p>
      )}
    </section>
  );
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function Request({ sent }: { sent: Sent }) {
  const keys = [sent.partitionKey].flat();
  return (
    <tr>
      <td>
        <code>{sent.path.join('.') || '–'}</code>
        <br />
        {sent.operation} in <strong>{sent.container}</strong>
        {sent.status >= 400 && `, status ${sent.status}`}
        <br />
        <code className="key" title={keys.join(', ')}>
          {keys.length > 1 ? `${keys.length} partitions` : keys[0]}
        </code>
      </td>
      <td className="number">
        {sent.cached ? 'cached' : sent.requestCharge.toFixed(2)}
        {sent.savedCharge && <small>saved {sent.savedCharge.toFixed(2)}</small>}
      </td>
    </tr>
  );
}
