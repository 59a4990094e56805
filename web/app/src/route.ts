import type { MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import { resetCost } from './api/cost';
import { newStore } from '../../shared/store';

// Left is how a reader left a place: the number of open pages of its list, how far it was scrolled,
// and whether a like waits for a sign-in. The entry of the place in the browser's history keeps it,
// also over a reload. from is the path of the place before it, if that is one of this page too.
export type Left = { pages?: number; top?: number; isLiking?: boolean; from?: string };

// keep changes how the present place is left.
export const keep = (left: Left) => history.replaceState({ ...history.state, ...left }, '');
export const left = (): Left => history.state ?? {};
const keepTop = () => keep({ top: scrollY });

// route is the place that the page shows. Each visit has another number. isBack is true if a reload
// or the browser's buttons led here, so that a list is shown as it was left, with as many pages.
export const route = newStore({ ...placeOf(history.state !== null), visit: 0 });

function placeOf(isBack: boolean) {
  return { path: location.pathname, isBack, pages: left().pages ?? 1 };
}

function show(isBack: boolean) {
  flushSync(() => route.set({ ...placeOf(isBack), visit: route.get().visit + 1 }));
}

let moves = 0; // how often the reader went somewhere

// navigate goes to a path of this page. The heading of the new place gets the focus (see Title). A view
// transition shows the place some frames later: not if the reader has moved on until then. There is none
// to the same place, where the reader may type at once.
export function navigate(path: string, given?: Left) {
  const move = ++moves;
  const isSame = path === location.pathname;
  keepTop();
  if (isSame) history.replaceState({ from: left().from, ...given }, '');
  else history.pushState({ from: location.pathname, ...given }, '', path);
  (document.activeElement as HTMLElement | null)?.blur();
  const change = () => {
    if (move !== moves) return;
    scrollTo(0, 0);
    show(false);
  };
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!document.startViewTransition || isCalm || isSame) return change();
  document.startViewTransition(change).ready.catch(() => {}); // skipped, but the change was made
}

// follow handles clicks on links within the page. All others are left to the browser.
export function follow(event: MouseEvent) {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.origin !== location.origin) return;
  // These are no places. A path that begins with two slashes would be another host.
  if (/^\/(\/|playground|graphql|feed\.xml|schema\.graphql)/.test(link.pathname)) return;
  event.preventDefault();
  resetCost();
  navigate(link.pathname + link.hash);
}

addEventListener('popstate', () => {
  moves++;
  const { top } = left();
  resetCost();
  show(true);
  scrollBack(top);
});
addEventListener('scrollend', keepTop);
scrollBack(left().top);

// scrollBack scrolls to where the reader was. It follows a page that grows with its answers, until it
// is there or the reader does something else.
function scrollBack(top?: number) {
  if (!top) return;
  const end = new AbortController();
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    if (Math.ceil(scrollY) >= top) end.abort();
  });
  end.signal.addEventListener('abort', () => observer.disconnect());
  for (const type of ['popstate', 'click', 'keydown', 'wheel', 'touchstart']) {
    addEventListener(type, () => end.abort(), { signal: end.signal });
  }
  observer.observe(document.documentElement);
}
