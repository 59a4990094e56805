// Reads Markdown. The parser is loaded after the page, and only for texts that have marks (Text.tsx).
import MarkdownIt, { type Token } from 'markdown-it';
import { maxParts } from './marks';
import { elements, type Element, type Part } from './part';

// The limit of a text, beside maxParts. Beyond it, the text is shown as it was written.
const maxTime = 400; // ms; common texts of 256 KiB take a fraction

// Line breaks are kept. HTML is shown as text.
const markdown = new MarkdownIt('commonmark', { html: false, breaks: true });

// The parser calls its rules again and again, so a rule can end it. It would leave out what is nested
// deeper than its own limit.
let deadline = 0;
let calls = 0;
function check({ level }: { level: number }) {
  if (level >= markdown.options.maxNesting - 2) throw new TooLong(); // a list takes two levels
  if (++calls % 64 === 0 && performance.now() > deadline) throw new TooLong();
  return false; // the next rule applies
}
markdown.block.ruler.before('code', 'limits', check);
markdown.inline.ruler.before('text', 'limits', check);

// TooLong is thrown if a text is beyond the limits.
class TooLong extends Error {}

// parse returns the parts of a text in Markdown, or null if the text is beyond the limits.
export function parse(text: string): Part[] | null {
  deadline = performance.now() + maxTime;
  try {
    const tokens = markdown.parse(text, {});
    order(tokens.filter(({ tag }) => /^h[1-6]$/.test(tag)));
    return build(tokens);
  } catch (error) {
    if (error instanceof TooLong) return null;
    throw error;
  }
}

// order changes the tokens of headings. The title of the post is the first heading, so the largest ones of
// its text are of the second level, and no level is left out, whichever their author has used.
function order(headings: Token[]) {
  const levels = [...new Set(headings.map(({ tag }) => tag))].sort();
  let last = 1;
  for (const heading of headings) {
    if (heading.nesting === 1) last = Math.min(levels.indexOf(heading.tag) + 2, last + 1);
    heading.tag = `h${last}`;
  }
}

// build returns the parts of tokens, in which the beginning and the end of an element are tokens of their
// own.
function build(tokens: Token[]): Part[] {
  let count = 0;
  const open: { begin?: Token; content: Part[] }[] = [{ content: [] }];
  const add = (part: Part) => {
    if (++count > maxParts) throw new TooLong();
    open.at(-1)!.content.push(part);
  };
  const take = (token: Token) => {
    if (token.type === 'inline') token.children!.forEach(take);
    else if (token.nesting === 1) open.push({ begin: token, content: [] });
    else if (token.nesting === 0) add(partOf(token));
    else {
      const { begin, content } = open.pop()!;
      const element = elementOf(begin!);
      // The paragraphs of a list without blank lines are hidden.
      if (element && !begin!.hidden) add({ element, content, ...attributesOf(begin!) });
      else content.forEach(add);
    }
  };
  tokens.forEach(take);
  return open[0]!.content;
}

const elementOf = ({ tag }: Token): Element | undefined => elements.find((each) => each === tag);

function attributesOf(token: Token) {
  const start = token.attrGet('start');
  return { href: token.attrGet('href')?.toString(), start: start === null ? undefined : Number(start) };
}

// partOf returns the part of a token that has neither beginning nor end. A page shows no images of other
// servers, so an image is a link.
function partOf(token: Token): Part {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return { element: 'br', content: [] };
    case 'hr':
      return { element: 'hr', content: [] };
    case 'code_inline':
      return { element: 'code', content: [token.content] };
    case 'fence':
    case 'code_block':
      return { element: 'pre', content: [token.content] };
    case 'image': {
      const href = token.attrGet('src')?.toString() ?? '';
      return { element: 'a', href, content: [token.content || href] };
    }
  }
  return token.content;
}
