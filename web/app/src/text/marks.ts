// Texts without the parser: what can be said of their marks, and how they are shown until it is there.
import type { Part } from './part';

// The marks of Markdown. A text without them needs no parser.
const marks = /[*_`[\]<&\\]|^ {0,3}(?:[-+#>=~]|\d+[.)])|^(?: {4}|\t)/m;

export const hasMarks = (text: string) => marks.test(text);

// maxParts is the number of parts that a text may have: elements of the page, and texts. One that may have
// more is shown as it was written.
export const maxParts = 20_000;

// isTooLong reports whether the paragraphs and addresses of a text alone may have too many parts. An address
// becomes a link, its text, and the text after it.
export const isTooLong = (text: string) => 3 * (text.match(/\n\s*\n|https?:\/\//g)?.length ?? 0) > maxParts;

// paragraphs returns the parts of a text without marks. Empty lines separate its paragraphs.
export const paragraphs = (text: string): Part[] =>
  text
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph.trim())
    .map((paragraph) => ({ element: 'p', content: [paragraph.trim()] }));

// withoutMarks returns the words of an excerpt: the beginning of a text in Markdown, without its line
// breaks. It may end within a mark.
export function withoutMarks(excerpt: string): string {
  return excerpt
    .replace(/!?\[([^\]]*)\](?:\((?:[^()]|\([^()]*(?:\)|$))*(?:\)|$)|\[[^\]]*(?:\]|$))?/g, '$1') // links and images
    .replace(/<(https?:[^>\s]*)>/g, '$1')
    .replace(/(^|\s)(?:#{1,6}|```\w*|~~~\w*|-{3,}|\*{3,}|_{3,}|={3,})(?=\s|$)/g, '$1') // of lines
    .replace(/(^|[.:!?…]\s+)(?:(?:>|[-+*])\s+)+/g, '$1') // of lists and quotes; elsewhere, it may be a dash
    .replace(/(\*\*|__|\*|`+)(?=\S)(.*?\S)\1/g, '$2') // of words
    .replace(/(^|\s)_(?=\S)(.*?\S)_(?=\s|[.,;:!?)]|$)/g, '$1$2')
    .replace(/(?:\*\*|__|[*_`]+|!?\[)(?=[^\s*_`]*$)(?<=(?:^|\s)\S*)/g, '') // a mark that the excerpt cuts
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
