import { useState, type ToggleEvent } from 'react';
import { cost, partitionsOf, ru, type Answer } from '../api/cost';
import { count } from './count';
import { later } from './later';
import styles from './CostBar.module.css';

const Details = later(() => import('./CostDetails').then(({ CostDetails }) => CostDetails));

// CostBar shows what this page cost, and what the server's memory saved. Each square is a partition that was
// asked, and is empty if the server had the answer in memory. Details are loaded when a person opens them.
export function CostBar() {
  const answers = cost.use();
  const [isOpen, setOpen] = useState(false);
  return (
    <footer className={styles.bar}>
      <details onToggle={(event: ToggleEvent<HTMLDetailsElement>) => setOpen(event.newState === 'open')}>
        <summary>
          <span className={answers.length > 0 ? 'hidden-on-phones' : undefined}>This page cost</span>
          {answers.length > 0 ? <Sum answers={answers} /> : <span>nothing yet</span>}
        </summary>
        {isOpen && <Details answers={answers} />}
      </details>
    </footer>
  );
}

const sum = (values: number[]) => values.reduce((sum, value) => sum + value, 0);

function Sum({ answers }: { answers: Answer[] }) {
  const requests = answers.flatMap((answer) => answer.requests);
  const sent = requests.filter(({ cached }) => !cached);
  const saved = sum(requests.map(({ savedCharge = 0 }) => savedCharge));
  const asked = new Set(sent.flatMap(partitionsOf));
  const needed = [...new Set(requests.flatMap(partitionsOf))];
  return (
    <>
      <strong>{ru.format(sum(answers.map(({ requestCharge }) => requestCharge)))} RU</strong>
      {sent.length === 0 && requests.length > 0 ? (
        <span className="hidden-on-phones">from the server’s memory</span>
      ) : (
        <span className="hidden-on-phones">
          {count(sent.length, 'request')} to {count(asked.size, 'partition')}
        </span>
      )}
      <span>{saved > 0 && `saved ${ru.format(saved)} RU`}</span>
      <span className={styles.partitions} aria-hidden="true">
        {needed.slice(0, most).map((partition) => (
          <span key={partition} data-kept={!asked.has(partition) || undefined} />
        ))}
      </span>
    </>
  );
}

const most = 16; // squares
