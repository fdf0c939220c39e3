import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { type Browser, cookiesOf, hasBrowser, launchBrowser, type Look, newProfile, sizeOf } from './chromium.ts';

const failures = fileURLToPath(new URL('../../../.cache/failed-pages', import.meta.url));

export interface Account {
  id: string;
  tenantId: string;
  /** How many times all its sessions have been ended, plus one. */
  sessionVersion?: number;
}

interface OpenOptions extends Look {
  /** Signed in with a new session; without it nobody is. */
  account?: Account | undefined;
  /** With a clock that the test sets forward. */
  hasOwnClock?: boolean;
  /** Opens a second window of the same browser profile as this page. */
  beside?: Page;
}

/** The service under test, as far as a browser needs it. */
export interface Served {
  url: string;
  /** A cookie header with a new session. */
  cookieOf(account: Account): Promise<string>;
}

/** A profile without a session, without anything stored and with one empty page. */
interface Profile {
  context: BrowserContext;
  page: Page;
  /** The service it is for, and how it shows it. */
  url: string;
  look: Look;
  /** False if something stays that a later test would notice. */
  isReusable: boolean;
}

/** The browser of all files that run in this process, with which it ends. */
let shared: Browser | null = null;
/** Profiles that earlier tests have used, most of them in earlier files. */
const spares: Profile[] = [];
const mostSpares = 8;
/** The pages of the test under way and what they reported. A profile outlives the file that made it, and so do these lists. */
const pages: Page[] = [];
const faults: string[] = [];

/**
 * A browser for the calling test file. Each `openPage` has a profile of its own, and anything a page reports that it should not —
 * console errors, exceptions, violations of the content security policy, refused calls, requests to another host — fails its test.
 */
export async function openBrowser({ url, cookieOf }: Served) {
  const browser = hasBrowser ? await sharedBrowser() : null;
  const profiles = new Set<Profile>();
  const allowed: string[] = [];

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await keep(task.name);
    const unexpected = faults.filter((fault) => !allowed.some((name) => fault.startsWith(name)));
    for (const profile of profiles) {
      const isWhole = task.result?.state !== 'fail' && profile.isReusable && !profile.page.isClosed();
      const isSpare = isWhole && spares.length < mostSpares;
      if (isSpare) spares.push(await emptied(profile));
      else await profile.context.close();
    }
    for (const list of [pages, faults, allowed]) list.length = 0;
    profiles.clear();
    expect(unexpected).toEqual([]);
  });

  async function openPage(path: string, options: OpenOptions = {}): Promise<Page> {
    const page = options.beside ? await options.beside.context().newPage() : await pageOfOwnProfile(options);
    if (path !== 'about:blank') await page.goto(path);
    return page;
  }

  async function pageOfOwnProfile({ account, hasOwnClock = false, ...look }: OpenOptions): Promise<Page> {
    const profile = spareOf(look) ?? (await addProfile(look));
    profiles.add(profile);
    const { context, page } = profile;
    pages.push(page);
    // A test may have changed them.
    await page.setViewportSize(sizeOf(look));
    await page.emulateMedia({ colorScheme: look.theme ?? 'light' });
    if (account) await context.addCookies(cookiesOf(url, await cookieOf(account)));
    if (hasOwnClock) {
      await context.clock.install();
      profile.isReusable = false;
    }
    return page;
  }

  /** A profile of an earlier test. Its process has read the scripts already, which takes longer than most tests. */
  function spareOf(look: Look): Profile | undefined {
    const at = spares.findIndex((spare) => spare.url === url && JSON.stringify(spare.look) === JSON.stringify(look));
    return at === -1 ? undefined : spares.splice(at, 1)[0];
  }

  async function addProfile(look: Look): Promise<Profile> {
    if (!browser) throw new Error('Chromium is not installed');
    const context = await newProfile(browser, url, look);
    await context.addInitScript(reportViolations);
    context.on('page', (page) => watch(page, (fault) => faults.push(fault)));
    const page = await context.newPage();
    // The other windows of a test
    context.on('page', (page) => pages.push(page));
    return { context, page, url, look, isReusable: true };
  }

  /** Closes what a test has opened, and forgets what it has left. */
  async function emptied(profile: Profile): Promise<Profile> {
    const { context, page } = profile;
    for (const other of context.pages()) if (other !== page) await other.close();
    await Promise.all([page.unrouteAll(), context.unrouteAll()]);
    await page.goto('about:blank');
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' });
    await session.detach();
    await context.clearCookies();
    return profile;
  }

  /** Stores what the pages of a failed test show. */
  async function keep(test: string): Promise<void> {
    await mkdir(failures, { recursive: true });
    for (const [n, page] of pages.entries()) {
      if (page.isClosed()) continue;
      const file = join(failures, `${test.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)}-${n + 1}`);
      const tree = await page.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String);
      await writeFile(`${file}.txt`, `${page.url()}\n\n${tree}\n\n${faults.join('\n')}\n`);
      await page.screenshot({ path: `${file}.png`, timeout: 10_000 }).catch(() => undefined);
    }
  }

  return {
    openPage,
    /** Faults that this test expects, by the beginning of their name, such as `401 POST /auth/login`. */
    allow: (...names: string[]): void => void allowed.push(...names),
    /** What the pages of this test reported so far. */
    faults: (): readonly string[] => faults,
  };
}

/** Starts it again if it has crashed. */
async function sharedBrowser(): Promise<Browser> {
  if (shared?.isConnected()) return shared;
  spares.length = 0;
  shared = await launchBrowser();
  return shared;
}

// The page reports through its console, the one way out of it that is watched.
function reportViolations(): void {
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    console.error(`CSP: ${effectiveDirective} ${blockedURI}`),
  );
}

const anyId = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Reports what goes wrong in a page: `401 POST /auth/login`, `unreachable GET /reminders`, `console: …`, `exception: …`, `other host: …`. */
function watch(page: Page, report: (fault: string) => void): void {
  const isOwn = ({ protocol, hostname }: URL) =>
    !/^https?:$/.test(protocol) || hostname === '127.0.0.1' || hostname === 'localhost';
  const nameOf = (url: URL, method: string) => `${method} ${url.pathname.replaceAll(anyId, ':id')}`;

  page.on('console', (message) => {
    // The answer itself is reported, with its method.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    report(`console: ${message.text()}`);
  });
  page.on('pageerror', ({ message }) => report(`exception: ${message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!isOwn(url)) report(`other host: ${url.origin}`);
  });
  page.on('response', (answer) => {
    const url = new URL(answer.url());
    if (answer.status() >= 400 && isOwn(url)) report(`${answer.status()} ${nameOf(url, answer.request().method())}`);
  });
  page.on('requestfailed', (request) => {
    const url = new URL(request.url());
    // Leaving a page aborts its calls.
    if (!isOwn(url) || request.failure()?.errorText === 'net::ERR_ABORTED') return;
    report(`unreachable ${nameOf(url, request.method())}`);
  });
}
