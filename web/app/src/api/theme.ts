// The theme: that of the system, or the one that the reader has chosen, in all tabs.
import { browserStorage as storage } from '../../../shared/storage';
import { newStore } from '../../../shared/store';

type Theme = 'light' | 'dark';

const key = 'cosmosblog.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const ofSystem = (): Theme => (system.matches ? 'dark' : 'light');
const chosen = () => [storage.get(key)].find((text): text is Theme => text === 'light' || text === 'dark');

// theme is what the page has.
export const theme = newStore<Theme>(chosen() ?? ofSystem());

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
