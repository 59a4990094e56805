import { canSignIn, page } from '../../api/page';
import { session, useViewer } from '../../api/session';
import { useRead } from '../../api/useRead';
import { FeedDocument } from '../../gql/graphql';
import { FaultBox } from '../../parts/FaultBox';
import { PostPage, PostPageSkeleton } from '../../parts/PostPage';
import { SignInForm, signInHint } from '../../parts/SignInForm';
import { StaleNotice } from '../../parts/StaleNotice';
import { Title } from '../../parts/Title';
import styles from './Feed.module.css';
import { NewPosts } from './NewPosts';
import { Welcome } from './Welcome';

// Feed lists the most recent posts. An empty blog has a first post to publish instead.
export function Feed() {
  const viewer = useViewer();
  const { data, isLoading, isStale, retry } = useRead(FeedDocument, {});
  const newPosts = data?.feed && <NewPosts feed={data.feed} show={retry} />;
  if (data?.feed?.edges.length === 0 && !isStale) {
    return (
      <>
        {newPosts}
        {page.development || viewer ? <Welcome /> : <Empty />}
      </>
    );
  }
  return (
    <>
      {newPosts}
      <Title className={styles.heading} text="Recent posts" />
      {viewer === null && canSignIn && <Invitation />}
      <StaleNotice isStale={isStale} isLoading={isLoading} retry={retry} />
      <ol className="cards front">
        <FeedPage />
      </ol>
    </>
  );
}

// Empty is the feed of an empty blog that people cannot sign in to by name.
function Empty() {
  return (
    <>
      <Title text="Nobody has published anything yet" />
      {canSignIn && <Invitation />}
    </>
  );
}

function FeedPage({ number = 1, after }: { number?: number; after?: string }) {
  const { data, faults, retry } = useRead(FeedDocument, { after });
  return (
    <>
      {faults.length > 0 && (
        <li>
          <FaultBox faults={faults} retry={retry} />
        </li>
      )}
      {!data && faults.length === 0 && <PostPageSkeleton />}
      {data?.feed && (
        <PostPage
          page={data.feed}
          number={number}
          next={(cursor) => <FeedPage number={number + 1} after={cursor} />}
          end={
            <>
              This is the end of the feed. It has the 100 most recent posts; older ones are in the{' '}
              <a href="/archive">archive</a>.
            </>
          }
        />
      )}
    </>
  );
}

// Invitation lets a visitor sign in.
function Invitation() {
  return (
    <section className={styles.invitation} aria-labelledby="invitation">
      <div>
        <h2 id="invitation">{session.get().isExpired ? 'You were signed out' : 'Join in'}</h2>
        <p>
          {session.get().isExpired
            ? 'The server no longer accepts your sign-in. Your drafts are still here.'
            : `Sign in to write, to like and to comment.${signInHint}`}
        </p>
      </div>
      <SignInForm />
    </section>
  );
}
