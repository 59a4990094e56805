import type { ReactNode } from 'react';

function Icon({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <svg
      className={className}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const KeyIcon = () => (
  <Icon className="graphiql-toolbar-icon">
    <circle cx="8" cy="15" r="4.5" />
    <path d="m11.5 11.5 8-8M16 7l3 3" />
  </Icon>
);

export const ExamplesIcon = () => (
  <Icon>
    <rect x="3.5" y="3.5" width="17" height="17" rx="3" />
    <path d="m8 9 3 3-3 3M13.5 15H17" />
  </Icon>
);

export const ChargesIcon = () => (
  <Icon>
    <path d="M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5" />
    <circle cx="12" cy="14.5" r="1.2" />
  </Icon>
);
