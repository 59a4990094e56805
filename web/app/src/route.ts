import type { MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import { resetCost } from './api/cost';
import { newStore } from './store';

// route is the place that the page shows. Each visit has another number. isBack is true if the
// browser's buttons led here, so that a list can be shown as it was left.
export const route = newStore({ path: location.pathname, visit: 0, isBack: false });

function show(isBack: boolean) {
  flushSync(() => route.set({ path: location.pathname, visit: route.get().visit + 1, isBack }));
}

// navigate goes to a path of this page. The heading of the new place gets the focus (see Title).
export function navigate(path: string) {
  history[path === location.pathname ? 'replaceState' : 'pushState'](null, '', path);
  (document.activeElement as HTMLElement | null)?.blur();
  const change = () => {
    show(false);
    scrollTo(0, 0);
  };
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!document.startViewTransition || isCalm) return change();
  document.startViewTransition(change).ready.catch(() => {}); // skipped, but the change was made
}

// follow handles clicks on links within the page. All others are left to the browser.
export function follow(event: MouseEvent) {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.origin !== location.origin) return;
  if (link.pathname.startsWith('/playground')) return;
  event.preventDefault();
  resetCost();
  navigate(link.pathname);
}

addEventListener('popstate', () => {
  resetCost();
  show(true);
});
