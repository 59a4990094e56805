import { useEffect, useRef } from 'react';

// focusIfLost gives the focus to an element if the element that had it is gone.
export function focusIfLost(element: HTMLElement | null) {
  if (document.activeElement === document.body) element?.focus({ preventScroll: true });
}

// useOpener returns the ref of a button that makes way for a form. When the form is closed, the button
// has the focus again.
export function useOpener(isOpen: boolean) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !isOpen) focusIfLost(button.current);
    wasOpen.current = isOpen;
  }, [isOpen]);
  return button;
}
