import { switchTheme, theme } from '../api/theme';
import { Contrast } from './Icons';

// ThemeSwitch is a button that changes between the light and the dark theme. Phones, whose bar has no
// room for it, have the theme of the system.
export function ThemeSwitch() {
  const label = theme.use() === 'dark' ? 'Light theme' : 'Dark theme';
  return (
    <button className="quiet icon theme" aria-label={label} title={label} onClick={switchTheme}>
      <Contrast />
    </button>
  );
}
