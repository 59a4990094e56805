import { useEffect, useState } from 'react';
import type { Fault } from '../../api/faults';
import { Field } from '../../parts/Field';
import { Text } from '../../text/Text';
import styles from './Write.module.css';

// PostText is what an author writes. The tags are separated by spaces or commas.
export type PostText = { title: string; content: string; tags: string };

// PostFields are the fields of a post.
export function PostFields(props: { values: PostText; change: (values: Partial<PostText>) => void; faults: Fault[] }) {
  const { values, change, faults } = props;
  const [isPreview, setPreview] = useState(false);
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
        hint="In Markdown: # heading, **bold**, *italic*, `code`, - list, > quote, [link](https://example.com)."
        isLong
      />
      <section className={styles.preview} aria-label="Preview">
        <button type="button" aria-expanded={isPreview} onClick={() => setPreview(!isPreview)}>
          {isPreview ? 'Hide the preview' : 'Preview'}
        </button>
        {isPreview && <Preview text={values.content} />}
      </section>
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

// Preview shows a text as it was when its author last paused. A long text takes time to be read.
function Preview({ text }: { text: string }) {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return <Text text={settled} />;
}
