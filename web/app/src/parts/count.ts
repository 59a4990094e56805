const format = new Intl.NumberFormat('en');

// count returns a number with its noun, such as “1 like” or “2 likes”. What is gone has none.
export const count = (n: number | null, noun: string) => `${format.format(n ?? 0)} ${noun}${n === 1 ? '' : 's'}`;
