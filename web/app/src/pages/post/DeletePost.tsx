import { useMutation } from 'urql';
import { faultsOf } from '../../api/faults';
import { DeletePostDocument } from '../../gql/graphql';
import { Confirm } from '../../parts/Confirm';
import { announce } from '../../parts/Notice';
import { navigate } from '../../route';

// DeletePost deletes a post, and goes to the feed.
export function DeletePost({ id }: { id: string }) {
  const [, remove] = useMutation(DeletePostDocument);
  async function run() {
    const { error } = await remove({ input: { id } });
    const faults = faultsOf(error).filter(({ code }) => code !== 'NOT_FOUND'); // an earlier try deleted it
    if (faults.length > 0) return faults;
    announce('The post is deleted.');
    navigate('/');
    return [];
  }
  return (
    <Confirm label="Delete" question="Delete this post with all its comments and likes?" action="Delete post" run={run} />
  );
}
