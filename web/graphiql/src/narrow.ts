// isNarrow reports whether the page shows one panel at a time, as on a phone. style.css has the same
// width.
export const isNarrow = () => matchMedia('(max-width: 48rem)').matches;
