import { articleRU, command, models, operations, partitions, served, users, type ModelName } from '../../api/models';
import { Title } from '../../parts/Title';
import styles from './Models.module.css';

const ru = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

const descriptions: Record<ModelName, string> = {
  V1: 'Every fact is stored once. Reads look up usernames and count comments and likes; lists of posts ask all partitions.',
  V2: 'Posts, comments and likes carry the username of their author, and posts their counts. Lists of posts still ask all partitions.',
  V3: 'Short copies of posts are where their lists are read, so that every read is one request to one partition.',
  V4: 'This server. Posts and their copies carry the newest three comments, and large contents are stored apart from their post.',
};

// Models shows what the article's models and this server's cost: a chart, and the numbers of it in a table.
export function Models() {
  return (
    <>
      <Title text="Four models, side by side" />
      <p className={styles.lead}>
        Microsoft’s article <cite>How to model and partition data on Azure Cosmos DB using a real-world example</cite> grows
        the model of a blog in three steps, V1 to V3. This server adds V4. This is what each step saves a reader, and what it
        costs a writer.
      </p>
      <dl className={styles.models}>
        {models.map((model) => (
          <div key={model}>
            <dt>
              <Mark model={model} /> {model}
            </dt>
            <dd>{descriptions[model]}</dd>
          </div>
        ))}
      </dl>
      <Chart />
      <Table />
      <p className={styles.source}>
        RU (request units) are what Cosmos DB bills. Measured by <code>{command}</code> on the embedded engine, whose charges
        are estimates, with {users} users. Each of <code>users</code> and <code>posts</code> has {partitions} physical
        partitions, all of which V1 and V2 ask for a list of posts. A list has up to 100 elements. Writes are counted without
        what follows later: copies of new and changed posts, and of new usernames.
      </p>
    </>
  );
}

const Mark = ({ model, left }: { model: ModelName; left?: string }) => (
  <span className={styles.mark} data-model={model} style={left ? { left } : undefined} />
);

// The axis has powers of ten around all values.
const values = operations.flatMap(({ measured }) => models.map((model) => measured[model].ru));
const least = Math.floor(Math.log10(Math.min(...values)));
const most = Math.ceil(Math.log10(Math.max(...values)));
const ticks = Array.from({ length: most - least + 1 }, (_, i) => 10 ** (least + i));
const position = (value: number) => `${(100 * (Math.log10(value) - least)) / (most - least)}%`;

function Chart() {
  return (
    <figure className={styles.chart}>
      <figcaption>RU of the ten operations. Each step to the right is ten times as much.</figcaption>
      <div className={styles.rows} aria-hidden="true">
        {operations.map(({ operation, title, measured }) => {
          const charges = models.map((model) => measured[model].ru);
          const [from, to] = [position(Math.min(...charges)), position(Math.max(...charges))];
          return (
            <div key={operation} className={styles.row}>
              <span className={styles.label}>
                {operation} {title}
              </span>
              <span className={styles.track}>
                <span className={styles.span} style={{ left: from, width: `calc(${to} - ${from})` }} />
                {models.map((model) => (
                  <Mark key={model} model={model} left={position(measured[model].ru)} />
                ))}
              </span>
            </div>
          );
        })}
        <div className={styles.row}>
          <span />
          <span className={styles.axis}>
            {ticks.map((tick) => (
              <span key={tick} style={{ left: position(tick) }}>
                {ru.format(tick)}
              </span>
            ))}
          </span>
        </div>
      </div>
    </figure>
  );
}

function inArticle(...row: Parameters<typeof articleRU>) {
  const figure = articleRU(...row);
  return figure === undefined ? '–' : ru.format(figure);
}

function Table() {
  return (
    <table className={styles.table}>
      <caption>
        One execution of each operation: the RU measured here, the RU in the article, and the mean number of requests.
      </caption>
      <thead>
        <tr>
          <th scope="col">Operation</th>
          {models.map((model) => (
            <th key={model} scope="col">
              {model}
            </th>
          ))}
          <th scope="col">
            {models[0]} ÷ {served}
          </th>
        </tr>
      </thead>
      <tbody>
        {operations.map((row) => (
          <tr key={row.operation}>
            <th scope="row">
              {row.operation} <span>{row.title}</span>
            </th>
            {models.map((model) => (
              <td key={model}>
                <strong>{ru.format(row.measured[model].ru)}</strong>
                <span>
                  <span className="hidden-on-phones">article </span>
                  {inArticle(row, model)}
                </span>
                <span>
                  {ru.format(row.measured[model].requests)}
                  <span className="hidden-on-phones"> requests</span>
                </span>
              </td>
            ))}
            <td>{ru.format(row.measured[models[0]!].ru / row.measured[served].ru)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
