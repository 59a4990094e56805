import type { Fault } from '../api/faults';
import { FaultBox } from './FaultBox';
import { Title } from './Title';

const sentences = {
  post: 'Its author deleted it, or the address has a mistake.',
  user: 'They left, or the address has a mistake.',
  page: 'The address has a mistake.',
  tag: undefined,
  month: undefined,
};

type Props = { what: keyof typeof sentences; isDeleted?: boolean; faults?: Fault[]; retry?: () => void };

// Gone stands for something that does not exist, or that could not be read because of faults. For what
// can be missing only because its name is not valid, the fault has the sentence. What isDeleted was there
// a moment ago.
export function Gone({ what, isDeleted, faults = [], retry }: Props) {
  const isBroken = faults.some(({ code }) => code !== 'BAD_USER_INPUT'); // an address can be no id at all
  return (
    <section className="empty">
      {isDeleted ? (
        <>
          <Title text={`This ${what} was deleted`} />
          <p>It was here a moment ago.</p>
        </>
      ) : isBroken ? (
        <>
          <Title text={`This ${what} could not be read`} />
          <FaultBox faults={faults} retry={retry} />
        </>
      ) : (
        <>
          <Title text={`There is no such ${what}`} />
          {sentences[what] ? <p>{sentences[what]}</p> : <FaultBox faults={faults} />}
        </>
      )}
      <p>
        <a href="/">See the recent posts</a>
      </p>
    </section>
  );
}
