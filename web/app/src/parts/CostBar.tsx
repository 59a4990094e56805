import { cost, type Answer, type Request } from '../api/cost';
import { chargeIn, models, partitions, served, users, type ModelName } from '../api/models';
import { count } from './count';
import styles from './CostBar.module.css';

const ru = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const about = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const others = models.filter((model) => model !== served);

// CostBar shows what this page cost: the RU, requests and partitions of its answers from the server,
// and a table of all requests. It also shows what the page would have cost in the other models.
export function CostBar() {
  const answers = cost.use();
  const requests = answers.flatMap((answer) => answer.requests);
  const price = answers.reduce((sum, answer) => sum + answer.estimate, 0);
  const elsewhere = chargesElsewhere(requests.filter(({ cached }) => !cached));
  return (
    <footer className={styles.bar}>
      <details>
        <summary>
          <span className={answers.length > 0 ? 'hidden-on-phones' : undefined}>This page cost</span>
          {answers.length > 0 ? <Sum answers={answers} elsewhere={elsewhere} /> : <span>nothing yet</span>}
        </summary>
        <div className={styles.details}>
          <p>
            RU (request units) are the currency of Cosmos DB: a read of one small item costs 1 RU. Before it ran them,
            the server priced these operations at up to {ru.format(price)} RU. What others do meanwhile, and appears by
            itself, is not counted. Try other operations in <a href="/playground">GraphiQL</a>.
          </p>
          <p>
            <a href="/models">Simpler models</a> of the same blog, measured side by side with this one, show what its copies
            save.
            {elsewhere && (
              <>
                {' '}
                In a blog like the measured one, with {users} users and {partitions} physical partitions, this page would
                have cost about {elsewhere}.
              </>
            )}
          </p>
          <table>
            <caption className="hidden">The requests to Cosmos DB, in order</caption>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Request</th>
                <th scope="col">Container</th>
                <th scope="col">Partition</th>
                <th scope="col">RU</th>
              </tr>
            </thead>
            <tbody>
              {requests.map((request, index) => (
                <Row key={index} request={request} />
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </footer>
  );
}

function Sum({ answers, elsewhere }: { answers: Answer[]; elsewhere: string }) {
  const charge = answers.reduce((sum, answer) => sum + answer.requestCharge, 0);
  const requests = answers.flatMap((answer) => answer.requests);
  const sent = requests.filter(({ cached }) => !cached);
  const partitions = new Set(sent.flatMap(partitionsOf));
  return (
    <>
      <strong>{ru.format(charge)} RU</strong>
      {sent.length === 0 && requests.length > 0 ? (
        <span>from the server’s memory</span>
      ) : (
        <>
          <span>{count(sent.length, 'request')}</span>
          <span>{count(partitions.size, 'partition')}</span>
          {elsewhere && <small className="hidden-on-phones">instead of about {elsewhere}</small>}
        </>
      )}
    </>
  );
}

// chargesElsewhere lists the estimated RU of requests in the other models. It is empty without a
// request.
function chargesElsewhere(sent: Request[]): string {
  if (sent.length === 0) return '';
  const charge = (model: ModelName) => sent.reduce((sum, request) => sum + chargeIn(model, request), 0);
  return others.map((model, i) => `${about.format(charge(model))} ${i === 0 ? 'RU ' : ''}in ${model}`).join(', ');
}

function Row({ request }: { request: Request }) {
  const keys = [request.partitionKey].flat();
  return (
    <tr data-cached={request.cached}>
      <td>{request.path.filter((step) => typeof step === 'string').join('.')}</td>
      <td>{request.operation}</td>
      <td>{request.container}</td>
      <td>{keys.length > 1 ? count(keys.length, 'partition') : keys[0]}</td>
      <td>{request.cached ? '0, from memory' : ru.format(request.requestCharge)}</td>
    </tr>
  );
}

const partitionsOf = ({ container, partitionKey }: Request) => [partitionKey].flat().map((key) => `${container}/${key}`);
