import { signOut, useViewer } from '../../api/session';
import { useRead } from '../../api/useRead';
import { UserDocument } from '../../gql/graphql';
import { Avatar } from '../../parts/Avatar';
import { count } from '../../parts/count';
import { DateTime } from '../../parts/DateTime';
import { FaultBox } from '../../parts/FaultBox';
import { Gone } from '../../parts/Gone';
import { announce } from '../../parts/Notice';
import { PostPage, PostPageSkeleton } from '../../parts/PostPage';
import { StaleNotice } from '../../parts/StaleNotice';
import { Title } from '../../parts/Title';
import { DeleteUser } from './DeleteUser';
import { Rename } from './Rename';
import styles from './User.module.css';

// User shows a user with their posts. On their own page, users can rename themselves, sign out, and
// delete themselves.
export function User({ id }: { id: string }) {
  const viewer = useViewer();
  const { data, faults, isLoading, isStale, retry } = useRead(UserDocument, { id });
  const user = data?.user;
  if (!user && !isLoading) return <Gone what="user" faults={faults} retry={retry} />;
  const isOwn = viewer?.id === id;
  return (
    <>
      {user ? (
        <header className={styles.user}>
          <Avatar user={user} size="large" />
          <div>
            <Title text={user.username} />
            <p className="hint">
              {count(user.postCount, 'post')}
              {user.creationDate && (
                <>
                  {' · joined '}
                  <DateTime value={user.creationDate} />
                </>
              )}
            </p>
          </div>
        </header>
      ) : (
        <Skeleton />
      )}
      {isOwn && (
        <div className={styles.own}>
          <Rename viewer={viewer} />
          <button className="quiet" onClick={leave}>
            Sign out
          </button>
          <DeleteUser />
        </div>
      )}
      <FaultBox faults={faults} retry={retry} />
      <StaleNotice isStale={isStale} isLoading={isLoading} retry={retry} />
      <ol className="cards">
        {user?.posts ? (
          <PostPage
            page={user.posts}
            ofOne
            number={1}
            next={(after) => <NextPage id={id} number={2} after={after} />}
          />
        ) : (
          isLoading && <PostPageSkeleton />
        )}
      </ol>
      {user?.posts?.edges.length === 0 && !isStale && (
        <p className="empty">
          {isOwn ? (
            <>
              You have not written anything yet. <a href="/write">Write your first post</a>
            </>
          ) : (
            `${user.username} has not written anything yet.`
          )}
        </p>
      )}
    </>
  );
}

function leave() {
  signOut();
  announce('You are signed out.');
}

function NextPage({ id, number, after }: { id: string; number: number; after: string }) {
  const { data, faults, retry } = useRead(UserDocument, { id, after });
  if (faults.length > 0) {
    return (
      <li>
        <FaultBox faults={faults} retry={retry} />
      </li>
    );
  }
  if (!data?.user?.posts) return <PostPageSkeleton />;
  return (
    <PostPage
      page={data.user.posts}
      ofOne
      number={number}
      next={(after) => <NextPage id={id} number={number + 1} after={after} />}
    />
  );
}

function Skeleton() {
  return (
    <div className={`${styles.user} skeleton`} aria-hidden="true">
      <p>
        <span>Somebody with posts</span>
      </p>
    </div>
  );
}
