import { newStore } from '../store';

// Lists have a new post after a moment, and a deleted one for a moment. This tab remembers its own, so
// that its reader sees them at once: new posts also over a reload, unless the browser blocks storage.
const storageKey = 'cosmosblog.published';

export const published = newStore(kept());
export const deleted = new Set<string>();

function kept(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
  } catch {
    return [];
  }
}

function keep(ids: string[]) {
  published.set(ids);
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(ids));
  } catch {
    // A reload forgets them.
  }
}

export const rememberPublished = (id: string) => keep([id, ...published.get().filter((other) => other !== id)]);
export const forgetPublished = (id: string) => keep(published.get().filter((other) => other !== id));
