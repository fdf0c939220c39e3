import './style.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { setLanguage } from './language.ts';
import { restoreTheme } from './theme.ts';

restoreTheme();
setLanguage(null);
const root = document.querySelector('#app');
if (root) render(<App />, root);
