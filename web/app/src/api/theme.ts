// The theme: that of the system, or the one that the reader has chosen, in all tabs.
import { browserStorage as storage } from '../../../shared/storage';
import { newStore } from '../../../shared/store';

type Theme = 'light' | 'dark';

const key = 'cosmosblog.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const ofSystem = (): Theme => (system.matches ? 'dark' : 'light');

function chosen(): Theme | undefined {
  const text = storage.get(key);
  return text === 'light' || text === 'dark' ? text : undefined;
}

// theme is what the page has.
export const theme = newStore(ofSystem());

function update() {
  document.documentElement.dataset.theme = chosen() ?? '';
  theme.set(chosen() ?? ofSystem());
}
system.addEventListener('change', update);
storage.follow(key, update);
update();

// switchTheme changes between the themes. A choice that is the system's is forgotten, so that the page
// follows the system again.
export function switchTheme() {
  const next = theme.get() === 'dark' ? 'light' : 'dark';
  storage.set(key, next === ofSystem() ? null : next);
}
