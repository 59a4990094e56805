import { useState } from 'react';
import { useClient, useMutation } from 'urql';
import { useDraft } from '../../api/useDraft';
import { faultsOf } from '../../api/faults';
import { useRead } from '../../api/useRead';
import { EditedPostDocument, UpdatePostDocument, type EditedPostQuery } from '../../gql/graphql';
import { FaultBox } from '../../parts/FaultBox';
import { Form } from '../../parts/Form';
import { Gone } from '../../parts/Gone';
import { announce } from '../../parts/Notice';
import { SignedIn } from '../../parts/SignedIn';
import { Tags } from '../../parts/Tags';
import { Title } from '../../parts/Title';
import { navigate } from '../../route';
import { PostFields } from './PostFields';
import { namingTags, tagsOf, textOf } from './tags';
import styles from './Write.module.css';

type Post = NonNullable<EditedPostQuery['post']>;

// Edit is the form that edits a post.
export function Edit({ id }: { id: string }) {
  const { data, faults, isLoading, retry } = useRead(EditedPostDocument, { id });
  const post = data?.post;
  if (!post) return isLoading ? <Title text="Edit post" /> : <Gone what="post" faults={faults} retry={retry} />;
  return (
    <>
      <Title text="Edit post" />
      <SignedIn purpose="to edit your post">
        {(viewer) =>
          viewer.id === post.author.id ? (
            <EditForm post={post} />
          ) : (
            <FaultBox faults={[{ message: 'Only the author of a post can edit it.' }]} />
          )
        }
      </SignedIn>
    </>
  );
}

function EditForm({ post }: { post: Post }) {
  const client = useClient();
  const [, update] = useMutation(UpdatePostDocument);
  const { id, title, version } = post;
  const draft = useDraft(`edit.${id}`, { title, content: post.content ?? '', tags: textOf(post.tags), version });
  const [published, setPublished] = useState<Post>();

  function done() {
    draft.discard();
    announce('Your changes are published.');
    navigate(`/posts/${id}`);
    return [];
  }

  // A conflict shows the published text, and leaves the reader's own in the form. Saving again
  // replaces the published text.
  async function submit() {
    const { values } = draft.latest();
    const tags = tagsOf(values.tags);
    const { data, error } = await update({ input: { id, ...values, tags } });
    if (data?.updatePost?.post) return done();
    const faults = namingTags(faultsOf(error), tags);
    if (faults.some(({ code }) => code === 'CONFLICT')) {
      const answer = await client.query(EditedPostDocument, { id }, { requestPolicy: 'network-only' });
      const post = answer.data?.post;
      if (!post) return faultsOf(answer.error);
      // An earlier try saved this text, and its answer was lost.
      const isSame = post.title === values.title && post.content === values.content && textOf(post.tags) === tags.join(' ');
      if (isSame) return done();
      setPublished(post);
      draft.change({ version: post.version });
    }
    return faults;
  }
  return (
    <Form
      className={styles.form}
      submit={submit}
      action="Save"
      beside={
        <>
          <a className="button" href={`/posts/${id}`}>
            Back to the post
          </a>
          <button
            type="button"
            className="quiet"
            onClick={() => {
              draft.discard();
              setPublished(undefined);
            }}
          >
            Discard changes
          </button>
        </>
      }
    >
      {(faults) => (
        <>
          {published && (
            <section className="panel" aria-labelledby="published">
              <h2 id="published">The published text</h2>
              <p dir="auto">
                <strong>{published.title}</strong>
              </p>
              <div className={styles.published}>{published.content}</div>
              <Tags tags={published.tags} />
              <p className="hint">Your own text is below. “Save” replaces the published text, and “Discard changes” keeps it.</p>
            </section>
          )}
          {draft.isOld && !published && (
            <p className="hint">You changed this post earlier, and did not save it. “Discard changes” shows the published text.</p>
          )}
          <PostFields values={draft.values} change={draft.change} faults={faults} />
        </>
      )}
    </Form>
  );
}
