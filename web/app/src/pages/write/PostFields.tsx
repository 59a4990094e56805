import type { Fault } from '../../api/faults';
import { Field } from '../../parts/Field';
import styles from './Write.module.css';

export type PostText = { title: string; content: string };

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
    </>
  );
}
