// The list of a million tenders on a processor slowed four times: opened, searched and scrolled through; the number of tenders as argument
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { newProfile, type Page } from '../apps/web/test/chromium.ts';
import { drawn } from '../apps/web/test/drawn.ts';
import { buildWebIfStale } from '../scripts/web-build.ts';
import { usualBuild } from '../scripts/web-sources.ts';
import { fillWithTenders } from './many-tenders.ts';
import { benchDatabase, benchSettings, median, percentile, report, startServer, stopAll } from './measure.ts';
import { clickOn, launchFullBrowser, watchForPaint, windowMs } from './slow-browser.ts';

const size = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 5);
/** As in the bench of the searches. */
const sharedBuffers = '512MB';
const cpuTimes = 4;
const words = ['Reinigung', 'Dienstleistungen', 'Bauarbeiten', 'Software', 'Möbel'];
/** The page sends a search after this pause in typing. */
const typingPauseMs = 350;
/** As fast as a person scrolls who looks for something. */
const scrollPxPerSec = 4_000;
const scrolledRows = 1_000;
/** A search with fewer matches has ended when nothing more comes for this time. */
const mostAtEndMs = 3_000;

const listed = `document.querySelector('[aria-busy="false"] [data-result]')`;

try {
  console.log((await buildWebIfStale(usualBuild)) ?? 'The pages are built.');
  const { url: databaseUrl, folder } = await benchDatabase({ sharedBuffers });
  const settings = benchSettings(databaseUrl, join(folder, 'data'));
  const database = openDatabase({ url: databaseUrl, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const admin = await make.user({ role: 'ADMIN' });
  const session = await make.session(admin);
  await database.close();
  await fillWithTenders(databaseUrl, size);
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: admin.id,
    tid: admin.tenantId,
    sid: session.id,
    ver: 1,
  });
  const cookie = `portal_session=${token}`;
  const { url } = await startServer(
    'apps/api/src/main.ts',
    { ...settings, WEB_DIR: usualBuild.outDir },
    join(folder, 'api.log'),
  );
  const browser = await launchFullBrowser();
  try {
    const opened: number[] = [];
    const searched: number[] = [];
    const frames: number[] = [];
    const missing: number[] = [];
    const answers: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const word = words[round % words.length] ?? '';
      for (const query of ['', `&q=${word}`]) answers.push(await answerMs(`/tenders?limit=100${query}`));
      const profile = await newProfile(browser, url, { width: 1440 }, cookie);
      try {
        const page = await profile.newPage();
        await page.goto('/app');
        await drawn(page);
        await pause(windowMs);
        const devTools = await profile.newCDPSession(page);
        await devTools.send('Emulation.setCPUThrottlingRate', { rate: cpuTimes });

        await page.evaluate(watchForPaint('click', listed));
        await clickOn(page, 'a', 'Tender radar');
        opened.push(await page.evaluate<number>('painted'));

        await page.evaluate(watchForPaint('input', `location.search.includes('q=') && ${listed}`));
        await page.click('input[name=q]');
        await page.keyboard.type(word, { delay: 80 });
        searched.push((await page.evaluate<number>('painted')) - typingPauseMs);

        const scrolled = await scrollThrough(page);
        frames.push(...scrolled.frames);
        missing.push(scrolled.missingMs);
      } finally {
        await profile.close();
      }
    }
    const limit = { limit: median(answers), unit: 'ms' };
    report(`${size} tenders, from the click on their page to the painted list`, {
      ours: median(opened),
      ...limit,
      goal: '',
    });
    report('from the pause after the last letter to the painted result', {
      ours: median(searched),
      ...limit,
      goal: '',
    });
    console.log(
      `scrolling through ${scrolledRows} rows: a frame in ${percentile(frames, 0.95).toFixed(0)} ms at the 95th percentile, rows missing for ${median(missing).toFixed(0)} ms`,
    );
  } finally {
    await browser.close();
  }

  async function answerMs(path: string): Promise<number> {
    const startedAt = performance.now();
    const answer = await fetch(url + path, { headers: { cookie } });
    await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return performance.now() - startedAt;
  }
} finally {
  await stopAll();
}

/** Scrolls at a steady speed. `missingMs` is the time for which the window reached below the last row that was read. */
async function scrollThrough(page: Page): Promise<{ frames: number[]; missingMs: number }> {
  return page.evaluate<{ frames: number[]; missingMs: number }>(`new Promise((resolve) => {
  const frames = [];
  let missingMs = 0;
  let atEndMs = 0;
  let before = performance.now();
  const step = (now) => {
    const ms = now - before;
    before = now;
    frames.push(ms);
    const table = document.querySelector('table');
    if (table.getBoundingClientRect().bottom < innerHeight) missingMs += ms;
    const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    atEndMs = isAtEnd ? atEndMs + ms : 0;
    const last = [...document.querySelectorAll('tr[aria-rowindex]')].at(-1);
    if (Number(last?.getAttribute('aria-rowindex')) >= ${scrolledRows} || atEndMs > ${mostAtEndMs}) return resolve({ frames, missingMs: missingMs - atEndMs });
    scrollBy(0, (${scrollPxPerSec} * ms) / 1000);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`);
}
