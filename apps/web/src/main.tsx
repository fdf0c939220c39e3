import './style.css';
import { options, render } from 'preact';
import { App } from './app.tsx';
import { setLanguage } from './language.ts';
import { restoreTheme } from './theme.ts';

// Effects tell mutations and listeners what the page has drawn. Preact would run them after the next frame, and Enter right after the last
// letter would send a form without that letter.
options.requestAnimationFrame = queueMicrotask;

restoreTheme();
setLanguage(null);
const root = document.querySelector('#app');
if (root) render(<App />, root);
