import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { route } from '../route';
import { focusIfLost } from './focus';

// Title is the heading of a place, and the title of the document. It takes the focus after
// navigation, so that screen readers announce the new place, unless the reader has moved on.
export function Title({ text, children, className }: { text: string; children?: ReactNode; className?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${text} – cosmosblog`;
  }, [text]);
  useLayoutEffect(() => {
    const isFirst = route.get().visit === 0;
    if (!isFirst) focusIfLost(heading.current);
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children ?? text}
    </h1>
  );
}
