import { setTimeout as pause } from 'node:timers/promises';
import { installedProgram } from '@portal/testing/services';
import { type Browser, launchBrowser, type Look, newProfile, type Page } from '../apps/web/test/chromium.ts';

/** The network and processor of a person with an old telephone. */
const slow = { bitsPerSec: 9_000_000, roundTripMs: 100, cpuTimes: 4 };

/** A new window of Chromium loads the parts around the page for two seconds. The browser of a person is open already. */
export const windowMs = 4_000;

/** How long a page that has been drawn makes no call. */
const quietMs = 1_500;
/** How often a page is waited for that is quiet but not painted. */
const mostWaits = 10;

/** What a page tells about itself. */
interface Figures {
  /** When the largest part of the page was painted, from the start of the navigation. */
  paintMs: number;
  /** The sum of all layout shifts. */
  shift: number;
  /** From each click to the next painted frame. */
  clicksMs: number[];
}

// As text, because it runs in the page.
const observe = `
globalThis.figures = { paintMs: 0, shift: 0, clicksMs: [] };
const watch = (type, take, options) =>
  new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...options });
watch('largest-contentful-paint', ({ startTime }) => (figures.paintMs = startTime));
watch('layout-shift', ({ value, hadRecentInput }) => (figures.shift += hadRecentInput ? 0 : value));
watch('event', ({ name, duration }) => name === 'click' && figures.clicksMs.push(duration), { durationThreshold: 16 });
`;

// Frames from the call until the promise below is asked for.
const recordFrames = `
globalThis.frames = [];
globalThis.recording = true;
const record = (before) => requestAnimationFrame((now) => {
  if (before !== null) frames.push(now - before);
  if (recording) record(now);
});
record(null);
`;

export interface Traffic {
  requests: number;
  bytes: number;
}

/** The full Chromium, which people have. Its headless shell stops drawing a page that scrolls for long on a slowed processor. */
export function launchFullBrowser(): Promise<Browser> {
  const path = installedProgram('chromium');
  if (path === null) throw new Error('Chromium is missing. Debian and Ubuntu: apt-get install chromium');
  return launchBrowser(path);
}

/** A browser profile whose pages run as on a slow device. */
export async function openSlowly(browser: Browser, url: string, cookie: string | null, look: Look = {}) {
  const profile = await newProfile(browser, url, look, cookie);
  await profile.addInitScript(observe);
  const page = await profile.newPage();
  await pause(windowMs);
  const devTools = await profile.newCDPSession(page);
  const bytesPerSec = slow.bitsPerSec / 8;
  await devTools.send('Network.enable');
  await devTools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: slow.roundTripMs,
    downloadThroughput: bytesPerSec,
    uploadThroughput: bytesPerSec,
  });
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: slow.cpuTimes });
  await devTools.send('Performance.enable');

  const own = new Set<string>();
  const unanswered = new Set<string>();
  const traffic: Traffic = { requests: 0, bytes: 0 };
  let lastChangeMs = performance.now();
  devTools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!request.url.startsWith(url)) return;
    own.add(requestId);
    unanswered.add(requestId);
    traffic.requests += 1;
    lastChangeMs = performance.now();
  });
  const end = (requestId: string) => {
    if (unanswered.delete(requestId)) lastChangeMs = performance.now();
  };
  devTools.on('Network.loadingFailed', ({ requestId }) => end(requestId));
  devTools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (own.has(requestId)) traffic.bytes += encodedDataLength;
    end(requestId);
  });

  const figures = (): Promise<Figures> => page.evaluate('figures');
  const cpuSec = async (): Promise<number> => {
    const { metrics } = await devTools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ProcessTime')?.value ?? Number.NaN;
  };
  return {
    page,
    /** Since the profile was opened. */
    traffic: (): Traffic => ({ ...traffic }),
    figures,
    /**
     * Opens a page and waits until it has loaded everything, been quiet for a while and painted something. It looks at the network and at
     * figures of the browser only: what finds elements by role adds 300 KB of script to the page, which is more than the page itself.
     */
    async open(path: string): Promise<void> {
      await page.goto(path);
      // The script of a page may take longer than the quiet while, and then calls more.
      for (let wait = 0; wait < mostWaits; wait += 1) {
        lastChangeMs = performance.now();
        while (unanswered.size > 0 || performance.now() - lastChangeMs < quietMs) await pause(50);
        if ((await figures()).paintMs > 0) return;
      }
      throw new Error(`${path} painted nothing`);
    },
    /** Milliseconds of each frame while `work` runs. */
    async framesDuring(work: () => Promise<unknown>): Promise<number[]> {
      await page.evaluate(recordFrames);
      await work();
      return page.evaluate('(recording = false, frames)');
    },
    /** Milliseconds from each click to the next frame while `work` clicks; faster ones than 16 ms count as 16. */
    async clicksDuring(work: () => Promise<number>): Promise<number[]> {
      await page.evaluate('figures.clicksMs.length = 0');
      const clicks = await work();
      const { clicksMs } = await figures();
      return [...clicksMs, ...Array.from({ length: Math.max(0, clicks - clicksMs.length) }, () => 16)];
    },
    /** The share of a slow processor that the page needs while nobody touches it. */
    async idleShare(seconds: number): Promise<number> {
      // Chromium slows a page down by keeping the processor busy, so this is measured at full speed.
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
      const before = await cpuSec();
      await pause(seconds * 1_000);
      const used = (await cpuSec()) - before;
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: slow.cpuTimes });
      return (used * slow.cpuTimes) / seconds;
    },
    close: () => profile.close(),
  };
}

/**
 * Runs in the page, so it is text: `painted` becomes the milliseconds from the last of these events until the condition, a JavaScript
 * expression, is true and painted.
 */
export const watchForPaint = (
  event: 'click' | 'input',
  condition: string,
): string => `globalThis.painted = new Promise((resolve) => {
  let start;
  const look = () => requestAnimationFrame(() =>
    (${condition}) ? setTimeout(() => resolve(performance.now() - start)) : look());
  addEventListener('${event}', () => {
    if (start === undefined) look();
    start = performance.now();
  }, { capture: true });
}); undefined`;

const clickPauseMs = 300;

/** Clicks as a person does: the pointer comes first, and there is a pause after it. Finds the element with as little script as possible. */
export async function clickOn(page: Page, tag: string, words: string): Promise<void> {
  const [x, y] = await page.evaluate<[number, number]>(`(() => {
  const found = [...document.querySelectorAll(${JSON.stringify(tag)})]
    .find((one) => (one.ariaLabel ?? one.textContent).startsWith(${JSON.stringify(words)}));
  const { x, y, width, height } = found.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
})()`);
  await page.mouse.move(x, y);
  await pause(clickPauseMs);
  await page.mouse.click(x, y);
  await pause(clickPauseMs);
}
