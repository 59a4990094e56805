import { useState } from 'react';
import { useRead } from '../../api/useRead';
import { ArchiveDocument, type ArchiveQuery } from '../../gql/graphql';
import { count } from '../../parts/count';
import { FaultBox } from '../../parts/FaultBox';
import { focusIfLost } from '../../parts/focus';
import { StaleNotice } from '../../parts/StaleNotice';
import { Tags } from '../../parts/Tags';
import { Title } from '../../parts/Title';
import { keep, route } from '../../route';
import styles from './Archive.module.css';
import { monthName } from './monthName';

const pageSize = 100; // of archiveMonths

// Archive lists the most used tags, and all months that have posts, newest first.
export function Archive() {
  const { data, faults, isLoading, isStale, retry } = useRead(ArchiveDocument, { isFirst: true });
  const { tags, archiveMonths: months } = data ?? {};
  return (
    <>
      <Title text="Archive" />
      <FaultBox faults={faults} retry={retry} />
      <StaleNotice isStale={isStale} isLoading={isLoading} retry={retry} />
      {!data && isLoading && <Skeleton />}
      {tags && tags.length > 0 && (
        <section className={styles.part} aria-labelledby="tags">
          <h2 id="tags">Most used tags</h2>
          <Tags tags={tags.toSorted((a, b) => (b.postCount ?? 0) - (a.postCount ?? 0))} label="Most used tags" />
        </section>
      )}
      {months && months.length > 0 && (
        <section className={styles.part} aria-labelledby="months">
          <h2 id="months">Months</h2>
          <ol className={styles.months}>
            <Page months={months} number={1} />
          </ol>
        </section>
      )}
      {months?.length === 0 && !isStale && <p className="empty">Nobody has published anything yet.</p>}
    </>
  );
}

// Page shows a page of months. After a click for the next page, its first month has the focus.
function Page({ months, number }: { months: NonNullable<ArchiveQuery['archiveMonths']>; number: number }) {
  const [isOpen, setOpen] = useState(number < route.get().pages);
  const open = () => {
    keep({ pages: number + 1 });
    setOpen(true);
  };
  return (
    <>
      {months.map(({ month, postCount }, index) => (
        <li key={month}>
          <a
            className={styles.month}
            href={`/archive/${month}`}
            ref={number > route.get().pages && index === 0 ? focusIfLost : undefined}
          >
            {monthName(month)}
            {postCount !== null && <span>{count(postCount, 'post')}</span>}
          </a>
        </li>
      ))}
      {months.length === pageSize && !isOpen && (
        <li>
          <button onClick={open}>Show earlier months</button>
        </li>
      )}
      {months.length === pageSize && isOpen && <NextPage number={number + 1} before={months.at(-1)!.month} />}
    </>
  );
}

function NextPage({ number, before }: { number: number; before: string }) {
  const { data, faults, retry } = useRead(ArchiveDocument, { before, isFirst: false });
  if (faults.length > 0) {
    return (
      <li>
        <FaultBox faults={faults} retry={retry} />
      </li>
    );
  }
  if (!data?.archiveMonths) return <li aria-busy="true">Loading…</li>;
  return <Page months={data.archiveMonths} number={number} />;
}

function Skeleton() {
  return (
    <div className={`${styles.part} skeleton`} aria-hidden="true">
      <p>
        <span>The tags that most posts have</span>
      </p>
      <p>
        <span>January of a year, and its posts</span>
      </p>
    </div>
  );
}
