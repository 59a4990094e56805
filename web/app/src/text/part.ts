// elements are those that a text can have. There are no others, whatever its author writes.
export const elements = [
  'a', 'blockquote', 'br', 'code', 'em', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre', 'strong', 'ul',
] as const;

export type Element = (typeof elements)[number];

// Part is a part of a text: an element, or a text without marks. href is of links, and start the first
// number of a list.
export type Part = string | { element: Element; content: Part[]; href?: string; start?: number };
