import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const packages = await mkdtemp(join(tmpdir(), 'portal-test-packages-'));
const { openPage, allow, addAccount, portalOf } = await servePages({
  env: { RELEASE_VERSION: '1.4.0', RELEASE_CHANNEL: 'live', DESKTOP_DIR: packages },
});
const smtp = await startSmtpServer();
afterAll(async () => {
  await smtp.stop();
  await rm(packages, { recursive: true });
});

type Account = Awaited<ReturnType<typeof addAccount>>;

const gone = { state: 'hidden' } as const;
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Report a bug' });
const title = (page: Page) => dialog(page).getByRole('textbox', { name: 'What is it about?' });
const description = (page: Page) => dialog(page).getByRole('textbox', { name: 'What happened?' });
const click = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click();
const stage = (page: Page) => dialog(page).getByRole('application');

/** An account whose organization receives reports. */
async function addReporter(): Promise<Account> {
  const admin = await addAccount({ role: 'ADMIN' });
  await portalOf(admin).put('/smtp-config', {
    body: {
      host: '127.0.0.1',
      port: smtp.port,
      security: 'none',
      fromAddress: 'portal@example.org',
      bugReportRecipient: 'it@example.org',
    },
  });
  return addAccount({ tenantId: admin.tenantId });
}

/** By keyboard alone */
async function openReport(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('report bug');
  await page.keyboard.press('Enter');
  await title(page).waitFor();
}

// Instead of the browser's choice of a screen: all of it is red.
const shareRed = `navigator.mediaDevices.getDisplayMedia = async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 400, height: 300 });
  const context = canvas.getContext('2d');
  const draw = () => { context.fillStyle = '#f00'; context.fillRect(0, 0, 400, 300); };
  draw();
  setInterval(draw, 50);
  globalThis.shared = canvas.captureStream(20);
  return globalThis.shared;
};`;

/** The red of some points of a PNG, given in parts of its width and height. */
const redsOf = (page: Page, png: Buffer, points: [x: number, y: number][]): Promise<number[]> =>
  page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return ${JSON.stringify(points)}.map(
      ([x, y]) => context.getImageData(Math.floor(x * image.width), Math.floor(y * image.height), 1, 1).data[0]);
  })()`);

describe.skipIf(!hasBrowser)('a bug report', () => {
  it('is written from any page, with a picture of the screen of which parts are blacked out, and arrives', async () => {
    const account = await addReporter();
    allow('400 POST /bug-reports');
    const page = await openPage('/app/reminders?state=done', { account });
    await drawn(page);
    await page.evaluate(shareRed);
    await openReport(page);
    // Rubbish first
    await click(page, 'Send');
    await dialog(page).locator('[name="title"][aria-invalid="true"]').waitFor();
    await title(page).fill('Printing stops');
    await description(page).fill('On the second page.');

    await click(page, 'Capture the screen');
    await stage(page).waitFor();
    expect(await page.evaluate('shared.getTracks().map(({ readyState }) => readyState)')).toEqual(['ended']);
    const box = await stage(page).boundingBox();
    if (!box) throw new Error('the picture is not shown');
    const at = (x: number, y: number) => [box.x + x * box.width, box.y + y * box.height] as const;
    await page.mouse.move(...at(0.5, 0.3));
    await page.mouse.down();
    await page.mouse.move(...at(0.1, 0.1));
    await page.mouse.up();
    await dialog(page).getByText('1 part blacked out').waitFor();
    // By keyboard: the frame in the middle, and one that is taken back
    await stage(page).press('Enter');
    await stage(page).press('Enter');
    await dialog(page).getByText('2 parts blacked out').waitFor();
    for (const key of ['ArrowDown', 'Shift+ArrowDown', 'Enter']) await stage(page).press(key);
    await click(page, 'Undo the last part');
    await dialog(page).getByText('2 parts blacked out').waitFor();
    await expectAccessible(page);

    await click(page, 'Send');
    await page.getByText('Your report has arrived.').waitFor();
    const mail = await smtp.waitFor(({ subject }) => subject.includes('Printing stops'));
    expect(mail.envelopeTo).toEqual(['it@example.org']);
    expect(mail.text).toContain('On the second page.\n\nPage: /app/reminders?state=done');
    const [screenshot] = mail.attachments;
    const reds = await redsOf(page, screenshot?.bytes ?? Buffer.alloc(0), [
      [0.3, 0.2],
      [0.5, 0.5],
      [0.8, 0.8],
    ]);
    expect(reds.map((red) => red > 200)).toEqual([false, false, true]);
  });

  it('needs no picture; one that is pasted or chosen can be removed', async () => {
    const account = await addReporter();
    const page = await openPage('/app/reminders', { account, width: 320 });
    await drawn(page);
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('button', { name: 'Report a bug' }).click();
    await title(page).fill('No picture');
    const choose = dialog(page).getByRole('button', { name: 'Choose file' });
    const file = (buffer: Buffer) => ({ name: 'screen.png', mimeType: 'image/png', buffer });
    await chooseFiles(page, choose, file(Buffer.from('no picture')));
    await dialog(page).getByText('no picture that your browser can read').waitFor();
    await chooseFiles(page, choose, file(pngIcon({ side: 300 })));
    await stage(page).waitFor();
    await expectAccessible(page);
    await click(page, 'Remove the picture');
    await stage(page).waitFor(gone);

    await page.evaluate(`(async () => {
      const clipboardData = new DataTransfer();
      const bytes = Uint8Array.from(atob('${pngIcon().toString('base64')}'), (char) => char.charCodeAt(0));
      clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    })()`);
    await stage(page).waitFor();
    await click(page, 'Remove the picture');
    await click(page, 'Send');
    await page.getByText('Your report has arrived.').waitFor();
    const mail = await smtp.waitFor(({ subject }) => subject.includes('No picture'));
    expect(mail.attachments[0]?.bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('that nobody would receive stays as it was written, and says who can help', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    allow('409 POST /bug-reports');
    const page = await openPage('/app/reminders', { account });
    await drawn(page);
    await page.getByRole('button', { name: `Account of ${account.username}` }).click();
    await page.getByRole('menuitem', { name: 'Report a bug' }).click();
    await title(page).fill('Nobody reads this');
    await description(page).fill('Really?');
    await click(page, 'Send');
    await dialog(page).getByRole('alert').getByText('NO_RECIPIENT').waitFor();
    await dialog(page).getByRole('button', { name: 'Copy the text' }).waitFor();
    await dialog(page).getByRole('link', { name: 'Go to the mail settings' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor(gone);
    await page.getByText('Your text stays here until you send it.').waitFor();
    await openReport(page);
    expect(await title(page).inputValue()).toBe('Nobody reads this');
    expect(await description(page).inputValue()).toBe('Really?');
  });
});

const putManifest = async (names: readonly string[]) => {
  const bytes = Buffer.from('an installer');
  const entries = names.map(async (platform) => {
    const file = `Portal_1.4.2_${platform}.bin`;
    await writeFile(join(packages, file), bytes);
    const signature = platform.startsWith('windows') ? null : 'c2lnbmF0dXJl';
    return [platform, { file, size: bytes.length, sha256: hash('sha256', bytes), signature }] as const;
  });
  const facts = { version: '1.4.2', channel: 'live', commit: '3f2c1ab', pubDate: '2026-11-20T09:30:00Z', notes: '' };
  const manifest = { ...facts, platforms: Object.fromEntries(await Promise.all(entries)) };
  await writeFile(join(packages, 'manifest.json'), JSON.stringify(manifest));
  return hash('sha256', bytes);
};

describe.skipIf(!hasBrowser)('the downloads', () => {
  it('have the package for this computer first, and say so if there is none at all', async () => {
    const account = await addAccount();
    allow('404 GET /desktop/latest');
    const page = await drawn(await openPage('/app/downloads', { account }));
    await page.getByText('No desktop app yet').waitFor();
    await expectAccessible(page);

    const sha256 = await putManifest(['windows-x86_64', 'linux-x86_64', 'darwin-aarch64']);
    await page.reload();
    await drawn(page);
    const own = page.getByRole('region', { name: 'For this computer' });
    await own.getByText('Linux, Intel/AMD, 64 bit', { exact: true }).waitFor();
    await own.getByText('Signed: the app checks its updates itself.').waitFor();
    await own.getByText('SHA-256').click();
    await own.getByText(sha256).waitFor();
    const others = page.getByRole('region', { name: 'Other systems' });
    await others.getByText('Not signed: this app does not update itself.').waitFor();
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      own.getByRole('link', { name: 'Download for Linux, Intel/AMD, 64 bit' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Portal_1.4.2_linux-x86_64.bin');
  });
});

describe.skipIf(!hasBrowser)('what is new', () => {
  it('is told once, long after the page is there, and then stands on its page', async () => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app/reminders', { account, hasOwnClock: true }));
    const notice = page.getByText('The portal now has version 1.4.0.');
    expect(await notice.count()).toBe(0);
    await page.clock.fastForward(5_000);
    await notice.waitFor();
    await page.getByRole('button', { name: 'What’s new?' }).click();
    await page.getByRole('heading', { level: 1, name: 'What’s new' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Version 1.4.0' }).waitFor();
    await page.getByText('The portal has pages in the browser').waitFor();
    await expectAccessible(page);
    const state = () => portalOf(account).get('/users/me/release-notice');
    await expect.poll(state).toMatchObject({ isNew: false, lastSeenVersion: '1.4.0' });

    const later = await drawn(await openPage('/app/reminders', { beside: page }));
    const answered = later.waitForResponse('**/users/me/release-notice');
    await later.clock.fastForward(5_000);
    await answered;
    await drawn(later);
    expect(await later.getByText('The portal now has version').count()).toBe(0);
  });
});
