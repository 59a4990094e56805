import { createElement, useEffect, useMemo, useState, type ReactNode } from 'react';
import { hasMarks, isTooLong, paragraphs } from './marks';
import type { Part } from './part';
import styles from './Text.module.css';

type Parser = typeof import('./parse');
let parser: Parser | undefined; // once it is loaded
let loading: Promise<Parser | void> | undefined;

// loadParser loads the parser. If that fails, the text is shown as it was written, and the next text
// tries again.
const loadParser = () =>
  (loading ??= import('./parse')
    .then((loaded) => (parser = loaded))
    .catch(() => void (loading = undefined)));

// Text shows a text in Markdown, as elements of the page. It is never read as HTML. A text that is beyond
// the parser's limits is shown as it was written.
export function Text({ text }: { text: string }) {
  const isPlain = useMemo(() => isTooLong(text), [text]);
  const needsParser = !isPlain && hasMarks(text);
  const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(parser ? 'loaded' : 'loading');
  useEffect(() => {
    if (!needsParser || state !== 'loading') return;
    void loadParser().then(() => setState(parser ? 'loaded' : 'failed'));
  }, [needsParser, state]);
  const loaded = parser;
  const parts = useMemo(() => {
    if (isPlain) return;
    return needsParser ? loaded?.parse(text) : paragraphs(text);
  }, [text, isPlain, needsParser, loaded]);
  if (needsParser && state === 'loading') return <div className={styles.text} aria-busy="true" />;
  return <div className={styles.text}>{parts ? parts.map(render) : <p className={styles.plain}>{text}</p>}</div>;
}

function render(part: Part, key: number): ReactNode {
  if (typeof part === 'string') return linked(part, key);
  const { element, content, href, start } = part;
  if (element === 'a') return link(href, content.map(renderUnlinked), key);
  if (element === 'pre') return createElement('pre', { key, tabIndex: 0 }, content.map(renderUnlinked));
  const isCode = element === 'code';
  // The marks of lists and quotes are where their text begins.
  const dir = /^(ul|ol|blockquote)$/.test(element) ? 'auto' : undefined;
  return createElement(element, { key, start, dir }, content.map(isCode ? renderUnlinked : render));
}

// renderUnlinked shows a part within a link or code, where addresses are no links.
function renderUnlinked(part: Part, key: number): ReactNode {
  if (typeof part === 'string') return part;
  if (part.element === 'a') return part.content.map(renderUnlinked);
  return createElement(part.element, { key }, part.content.map(renderUnlinked));
}

// linked makes links of the addresses in a text.
function linked(text: string, key: number): ReactNode {
  const parts = text.split(/(\bhttps?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]])/);
  if (parts.length === 1) return text;
  return parts.map((part, i) => (i % 2 === 0 ? part : link(part, part, `${key}.${i}`)));
}

// link is a link to a page or to a mail address, or only its content. Search engines need not follow it.
function link(href: string | undefined, content: ReactNode, key: string | number): ReactNode {
  const url = href && URL.canParse(href, location.href) ? new URL(href, location.href) : undefined;
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return <span key={key}>{content}</span>;
  const rel = url.origin === location.origin ? undefined : 'nofollow ugc noreferrer';
  return (
    <a key={key} href={url.href} rel={rel}>
      {content}
    </a>
  );
}
