import { Monitor, Moon, Sun } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { chooseLanguage, language } from '../language.ts';
import { setTheme } from '../theme.ts';
import { Button, IconButton } from '../ui/button.tsx';
import s from './entry-page.module.css';
import { texts } from './sign-in-texts.ts';

interface EntryPageProps {
  title: string;
  children: ComponentChildren;
}

/** A page without the frame: one card in the middle, with switches for language and theme below. */
export function EntryPage({ title, children }: EntryPageProps) {
  const { product } = texts.value;
  useLayoutEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title]);
  return (
    <div class={s.entry}>
      <main class={s.card} id="main" tabIndex={-1}>
        <div>
          <p class={s.product}>{product}</p>
          <h1>{title}</h1>
        </div>
        {children}
      </main>
      <footer class={s.switches}>
        <LanguageSwitch />
        <ThemeSwitch />
      </footer>
    </div>
  );
}

const languages = { de: 'Deutsch', en: 'English' } as const;

function LanguageSwitch() {
  return (
    <div role="group" aria-label={texts.value.language}>
      {(['de', 'en'] as const).map((each) => (
        <Button
          key={each}
          kind="ghost"
          lang={each}
          aria-pressed={language.value === each}
          onClick={() => chooseLanguage(each)}
        >
          {languages[each]}
        </Button>
      ))}
    </div>
  );
}

const themes = { system: Monitor, light: Sun, dark: Moon };
const following = { system: 'light', light: 'dark', dark: 'system' } as const;

function ThemeSwitch() {
  const [theme, setShown] = useState(themeNow);
  const choose = () => {
    const wanted = following[theme];
    setTheme(wanted === 'system' ? null : wanted);
    setShown(wanted);
  };
  return <IconButton icon={themes[theme]} label={texts.value.theme[theme]} onClick={choose} />;
}

function themeNow(): keyof typeof themes {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}
