import type { BrowserContext, Page, Request } from 'playwright-core';

/** What each page has asked for. */
interface Calls {
  begun: number;
  unanswered: Set<Request>;
}

const callsOf = new WeakMap<Page, Calls>();

/** Counts the calls of all pages of a profile, for `drawn`. */
export function countCalls(profile: BrowserContext): void {
  profile.on('page', (page) => {
    const calls: Calls = { begun: 0, unanswered: new Set() };
    callsOf.set(page, calls);
    page.on('request', (request) => {
      calls.begun += 1;
      calls.unanswered.add(request);
    });
    const end = (request: Request) => calls.unanswered.delete(request);
    page.on('requestfinished', end);
    page.on('requestfailed', end);
  });
}

/** Frames in a row without a call and without a change that could begin one. */
const quietFrames = 3;
const latestMs = 60_000;

/** Waits until the page has its heading and nothing on it is loading. */
export async function drawn(page: Page): Promise<Page> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const calls = callsOf.get(page);
  if (!calls) throw new Error('nobody counts the calls of this page');
  const startedMs = Date.now();
  for (let quiet = 0; quiet < quietFrames;) {
    const { begun } = calls;
    const isLoading = await page.evaluate<boolean>(isLoadingAfterFrame);
    quiet = isLoading || calls.unanswered.size > 0 || calls.begun > begun ? 0 : quiet + 1;
    if (Date.now() - startedMs < latestMs) continue;
    throw new Error(`still loading: ${[...calls.unanswered].map((call) => call.url()).join(', ')}`);
  }
  return page;
}

/** Effects run after the frame that shows their component, and begin calls. A text, because scripts without the types of the DOM use it. */
const isLoadingAfterFrame = `new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(() => resolve(/Loading…|Wird geladen …/.test(document.body.textContent))));
})`;
