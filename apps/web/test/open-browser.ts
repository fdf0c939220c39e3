import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, expect } from 'vitest';
import { hasBrowser, launchBrowser, type Look, newProfile } from './chromium.ts';

const failures = fileURLToPath(new URL('../../../.cache/failed-pages', import.meta.url));

type Account = { id: string; tenantId: string; sessionVersion?: number | undefined };

interface OpenOptions extends Look {
  /** Signed in with a new session; without it nobody is. */
  account?: Account | undefined;
  /** Opens a second window of the same browser profile as this page. */
  beside?: Page;
}

/** The service under test, as far as a browser needs it. */
export interface Served {
  url: string;
  /** A cookie header with a new session. */
  cookieOf(account: Account): Promise<string>;
}

/**
 * One browser for the calling test file. Each `openPage` has a profile of its own, and whatever a page reports that it should not —
 * console errors, exceptions, violations of the content security policy, refused calls, requests to another host — fails its test.
 */
export async function openBrowser({ url, cookieOf }: Served) {
  const browser = hasBrowser ? await launchBrowser() : null;
  const profiles = new Set<BrowserContext>();
  const pages: Page[] = [];
  const faults: string[] = [];
  const allowed: string[] = [];

  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await keep(task.name);
    const unexpected = faults.filter((fault) => !allowed.some((name) => fault.startsWith(name)));
    for (const profile of profiles) await profile.close();
    for (const list of [pages, faults, allowed]) list.length = 0;
    profiles.clear();
    expect(unexpected).toEqual([]);
  });

  async function openPage(path: string, options: OpenOptions = {}): Promise<Page> {
    const page = options.beside ? await options.beside.context().newPage() : await pageOfNewProfile(options);
    await page.goto(path);
    return page;
  }

  async function pageOfNewProfile({ account, ...look }: OpenOptions): Promise<Page> {
    if (!browser) throw new Error('Chromium is not installed');
    const context = await newProfile(browser, url, look, account && (await cookieOf(account)));
    profiles.add(context);
    await context.addInitScript(reportViolations);
    context.on('page', (page) => {
      pages.push(page);
      watch(page, (fault) => faults.push(fault));
    });
    return context.newPage();
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
