import { useEffect, useEffectEvent } from 'react';
import { useMutation, useQuery } from 'urql';
import { faultsOf } from '../../api/faults';
import { canSignIn } from '../../api/page';
import { useViewer } from '../../api/session';
import { read, type FragmentType } from '../../gql/fragment-masking';
import { LikeButtonFragmentDoc, LikePostDocument, UnlikePostDocument, ViewerHasLikedDocument } from '../../gql/graphql';
import { count } from '../../parts/count';
import { Heart } from '../../parts/Icons';
import { announce } from '../../parts/Notice';
import { keep, left, navigate } from '../../route';
import styles from './LikeButton.module.css';

// LikeButton likes a post, or takes the like back. It shows the change at once: the cache predicts
// the answer, and takes the prediction back if the server refuses. A like that leads to the page for
// signing in is done when the reader comes back.
export function LikeButton(props: { post: FragmentType<typeof LikeButtonFragmentDoc> }) {
  const { id, likeCount } = read(LikeButtonFragmentDoc, props.post);
  const viewer = useViewer();
  const [{ data, fetching }] = useQuery({
    query: ViewerHasLikedDocument,
    variables: { id },
    pause: viewer === null,
    requestPolicy: 'cache-and-network',
  });
  const viewerHasLiked = viewer !== null && Boolean(data?.post?.viewerHasLiked);
  const isUnknown = viewer === undefined || (viewer !== null && !data && fetching);
  const [liking, like] = useMutation(LikePostDocument);
  const [unliking, unlike] = useMutation(UnlikePostDocument);

  const comeBack = useEffectEvent(() => {
    if (!left().isLiking) return;
    keep({ isLiking: false });
    if (viewer && !viewerHasLiked) void toggle();
  });
  useEffect(() => {
    if (!isUnknown) comeBack();
  }, [isUnknown]);

  async function toggle() {
    if (viewer === null) {
      keep({ isLiking: true });
      return navigate('/sign-in', { isLiking: true });
    }
    if (liking.fetching || unliking.fetching) return;
    const { error } = await (viewerHasLiked ? unlike : like)({ input: { postId: id } });
    if (error) announce(faultsOf(error)[0]!.message);
  }
  if (!canSignIn) {
    return (
      <p className={styles.count}>
        <Heart /> {count(likeCount, 'like')}
      </p>
    );
  }
  return (
    <button className={styles.like} aria-pressed={viewerHasLiked} onClick={toggle}>
      <Heart /> {count(likeCount, 'like')}
    </button>
  );
}
