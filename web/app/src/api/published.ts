import { tabStorage } from '../../../shared/storage';
import { newStore } from '../../../shared/store';

// Published is a post that this tab published or edited: what tells which lists it belongs to.
export type Published = { id: string; creationDate: string; tags: { name: string }[] };

// Lists have a new post after a moment, and a deleted one for a moment. This tab remembers its own, so
// that its reader sees them at once: new posts also over a reload, unless the browser blocks storage.
const storageKey = 'cosmosblog.own-posts';

export const published = newStore(tabStorage.read<Published[]>(storageKey) ?? []);
export const deleted = new Set<string>();

function keep(posts: Published[]) {
  published.set(posts);
  tabStorage.set(storageKey, JSON.stringify(posts));
}

const without = (id: string) => published.get().filter((post) => post.id !== id);

export const forgetAllPublished = () => keep([]);
export const rememberPublished = ({ id, creationDate, tags }: Published) =>
  keep([{ id, creationDate, tags }, ...without(id)]);
export const forgetPublished = (id: string) => keep(without(id));
