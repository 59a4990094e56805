const format = new Intl.NumberFormat('en');

// count returns a number with its noun, such as “1 like” or “2 likes”.
export const count = (n: number, noun: string) => `${format.format(n)} ${noun}${n === 1 ? '' : 's'}`;
