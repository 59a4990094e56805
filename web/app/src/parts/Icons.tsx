import type { ReactNode } from 'react';

const icon = (path: ReactNode) => () => (
  <svg
    width="20"
    height="20"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {path}
  </svg>
);

export const Heart = icon(
  <path d="M12 20.5 4.4 13a5 5 0 0 1 0-7.1 5 5 0 0 1 7.1 0l.5.6.5-.6a5 5 0 0 1 7.1 0 5 5 0 0 1 0 7.1z" />,
);
export const Bubble = icon(<path d="M20.5 11.5a8 8 0 0 1-11.6 7.1L3.5 20.5l1.9-5.4a8 8 0 1 1 15.1-3.6z" />);
export const Pen = icon(<path d="m4 20 1-4.5L16.5 4a2.1 2.1 0 0 1 3 3L8 18.500z M14 6.500l3 3" />);
export const Box = icon(<path d="M4 8.500v11h16v-11M3 4.500h18v4H3zM10 12.500h4" />);
export const Contrast = icon(
  <>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 3.500v17a8.500 8.500 0 0 0 0-17z" fill="currentColor" />
  </>,
);
export const Warning = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7.5v5.500M12 16.400v.1" />
  </>,
);
