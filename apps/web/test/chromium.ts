import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { serviceBinary } from '@portal/testing/services';
import { countCalls } from './drawn.ts';

/** Debian's Chromium without its window, which takes a fifth less processor time in the tests; empty if it is not installed. */
const binary = serviceBinary('chromium-headless-shell') ?? '';
export const hasBrowser = binary !== '';

/** For programs outside this package, which do not see the library. */
export type { Browser, BrowserContext, Page };

/** One step on a machine with all processors busy. */
const stepMs = 60_000;

export type Language = 'de' | 'en';
export type Theme = 'light' | 'dark';

/** What the browser tells a page, which follows it unless the account chose otherwise. */
export interface Look {
  language?: Language;
  theme?: Theme;
  width?: number;
  height?: number;
}

/** Starts Chromium without any way out of this machine. Benches give the path of the full one. */
export const launchBrowser = (path = binary): Promise<Browser> =>
  chromium.launch({
    executablePath: path,
    args: [
      // Tests may run as root, for which Chromium refuses its sandbox.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });

/** A fresh browser profile with this look that keeps the cookies of a header. */
export async function newProfile(
  browser: Browser,
  url: string,
  look: Look,
  cookie: string | null = null,
): Promise<BrowserContext> {
  const { language = 'en', theme = 'light' } = look;
  const context = await browser.newContext({
    baseURL: url,
    locale: { de: 'de-DE', en: 'en-GB' }[language],
    colorScheme: theme,
    viewport: sizeOf(look),
    // Pages under test stand still, so that a check sees their last state.
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(stepMs);
  countCalls(context);
  if (cookie !== null) await context.addCookies(cookiesOf(url, cookie));
  return context;
}

/** The inside of the window. */
export const sizeOf = ({ width = 1440, height = 900 }: Look) => ({ width, height });

/** The cookies of a header, as the service sets them. */
export const cookiesOf = (url: string, header: string) =>
  header
    .split('; ')
    .map((pair) => pair.split('='))
    .map(([name = '', value = '']) => ({ name, value, url, httpOnly: true, sameSite: 'Lax' as const }));
