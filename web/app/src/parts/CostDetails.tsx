import { partitionsOf, ru, type Answer, type Request } from '../api/cost';
import { chargeIn, models, partitions, served, users, type ModelName } from '../api/models';
import { count } from './count';
import styles from './CostDetails.module.css';

const about = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const others = models.filter((model) => model !== served);

// CostDetails explains what a page cost: its partitions, drawn, and a table of all requests. It also shows
// what the page would have cost in the other models.
export function CostDetails({ answers }: { answers: Answer[] }) {
  const requests = answers.flatMap((answer) => answer.requests);
  const price = answers.reduce((sum, answer) => sum + answer.estimate, 0);
  const elsewhere = chargesElsewhere(requests.filter(({ cached }) => !cached));
  return (
    <div className={styles.details}>
      <Picture requests={requests} />
      <p>
        RU (request units) are the currency of Cosmos DB: a read of one small item costs 1 RU. Before it ran them, the
        server priced these operations at up to {ru.format(price)} RU. What it has in memory costs nothing as long as the
        partition does not change. What others do meanwhile, and appears by itself, is not counted. Try other operations in{' '}
        <a href="/playground">GraphiQL</a>.
      </p>
      <p>
        <a href="/models">Simpler models</a> of the same blog, measured side by side with this one, show what its copies
        save.
        {elsewhere && (
          <>
            {' '}
            In a blog like the measured one, with {users} users and {partitions} physical partitions, this page would have
            cost about {elsewhere}.
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
  );
}

const cells = 48; // of a container in the picture

// Picture draws the containers as rows of partitions, and marks those that the page needed. A partition's place
// is given by a hash of its key, as in Cosmos DB; a real container has as many partitions as keys.
function Picture({ requests }: { requests: Request[] }) {
  const containers = [...new Set(requests.map(({ container }) => container))];
  return (
    <figure className={styles.picture} aria-hidden="true">
      {containers.map((container) => {
        const of = requests.filter((request) => request.container === container);
        const asked = new Set(of.filter(({ cached }) => !cached).flatMap(partitionsOf).map(cellOf));
        const needed = new Set(of.flatMap(partitionsOf).map(cellOf));
        return (
          <div key={container}>
            <span>{container}</span>
            <span className={styles.track}>
              {Array.from({ length: cells }, (_, cell) => (
                <span key={cell} data-asked={asked.has(cell) || undefined} data-kept={needed.has(cell) || undefined} />
              ))}
            </span>
          </div>
        );
      })}
      <figcaption>
        Partitions that this page asked, among the others of their container. Those with a frame were in the server’s
        memory.
      </figcaption>
    </figure>
  );
}

// cellOf returns the place of a partition in the picture, by the hash FNV-1a.
function cellOf(partition: string) {
  let hash = 0x811c9dc5;
  for (const character of partition) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return (hash >>> 0) % cells;
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
      <td>{request.cached ? saved(request) : ru.format(request.requestCharge)}</td>
    </tr>
  );
}

const saved = ({ savedCharge }: Request) => (savedCharge ? `0, saved ${ru.format(savedCharge)}` : '0, from memory');
