import type { Fault } from '../../api/faults';
import { Field } from '../../parts/Field';
import styles from './Write.module.css';

// PostText is what an author writes. The tags are separated by spaces or commas.
export type PostText = { title: string; content: string; tags: string };

// PostFields are the fields of a post.
export function PostFields(props: { values: PostText; change: (values: Partial<PostText>) => void; faults: Fault[] }) {
  const { values, change, faults } = props;
  return (
    <>
      <Field
        className={styles.title}
        label="Title"
        name="title"
        value={values.title}
        onChange={(title) => change({ title })}
        faults={faults}
      />
      <Field
        className={styles.content}
        label="Text"
        name="content"
        value={values.content}
        onChange={(content) => change({ content })}
        faults={faults}
        isLong
      />
      <Field
        label="Tags"
        name="tags"
        value={values.tags}
        onChange={(tags) => change({ tags })}
        faults={faults}
        hint="Up to five, with spaces or commas between them. A tag has small letters, digits and “-”."
        autoCapitalize="none"
      />
    </>
  );
}
