import { tabStorage } from '../../../shared/storage';
import { newStore } from '../../../shared/store';

// Lists have a new post after a moment, and a deleted one for a moment. This tab remembers its own, so
// that its reader sees them at once: new posts also over a reload, unless the browser blocks storage.
const storageKey = 'cosmosblog.published';

export const published = newStore(tabStorage.read<string[]>(storageKey) ?? []);
export const deleted = new Set<string>();

function keep(ids: string[]) {
  published.set(ids);
  tabStorage.set(storageKey, JSON.stringify(ids));
}

export const forgetAllPublished = () => keep([]);
export const rememberPublished = (id: string) => keep([id, ...published.get().filter((other) => other !== id)]);
export const forgetPublished = (id: string) => keep(published.get().filter((other) => other !== id));
