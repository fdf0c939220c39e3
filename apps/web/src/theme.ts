export type Theme = 'light' | 'dark';

// Known before the account is, so that the first paint has the right colours.
const storedTheme = 'portal.theme';
const storedAccent = 'portal.accent';

/** Call it before the first paint. */
export function restoreTheme(): void {
  const theme = localStorage.getItem(storedTheme);
  setTheme(theme === 'light' || theme === 'dark' ? theme : null);
  setAccent(localStorage.getItem(storedAccent));
}

/** Null follows the browser. */
export function setTheme(theme: Theme | null): void {
  const { dataset } = document.documentElement;
  if (theme) dataset['theme'] = theme;
  else delete dataset['theme'];
  store(storedTheme, theme);
}

/** `accent` is #rrggbb; null for the product's own. The styles derive readable colours from it. */
export function setAccent(accent: string | null): void {
  const { style } = document.documentElement;
  if (accent !== null && /^#[0-9a-f]{6}$/i.test(accent)) style.setProperty('--accent', accent);
  else style.removeProperty('--accent');
  store(storedAccent, accent);
}

function store(name: string, value: string | null): void {
  if (value === null) localStorage.removeItem(name);
  else localStorage.setItem(name, value);
}
