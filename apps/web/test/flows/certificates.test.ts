import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { certificateSample } from '@portal/testing/cert-samples';
import { alternativeNames, dnsName, makeCertificate } from '@portal/testing/made-certificates';
import { zipOf } from '@portal/testing/zip';
import { expectAccessible } from '../accessible.ts';
import { type ChosenFile, chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, accountFor } = await servePages();

const fileOf = (name: string, buffer: Buffer): ChosenFile => ({ name, mimeType: 'application/octet-stream', buffer });
const sample = (path: string): ChosenFile => {
  const { name, bytes } = certificateSample(path);
  return fileOf(name, bytes);
};
const open = async (look = {}) =>
  drawn(
    await openPage('/app/certificates', {
      account: await accountFor({ module: 'certificate-manager', level: 'USE' }),
      ...look,
    }),
  );
const choose = (page: Page, ...files: ChosenFile[]) =>
  chooseFiles(page, page.getByRole('button', { name: 'Choose files' }), ...files);
const files = (page: Page) => page.getByRole('table', { name: 'Files' });
const fileRow = (page: Page, name: string) => files(page).getByRole('row').filter({ hasText: name });
const chains = (page: Page) => page.getByRole('region', { name: 'Certificates' });
const missing = (page: Page) => page.getByRole('region', { name: 'What is missing' });
const download = async (page: Page) => {
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
  ]);
  return { name: saved.suggestedFilename(), bytes: await readFile(await saved.path()) };
};

describe.skipIf(!hasBrowser)('certificates', () => {
  it('are drawn as a tree with their keys; what is missing is named, and comes by more files', async () => {
    const page = await open();
    await choose(page, sample('generated/leaf-rsa.cert.pem'), sample('generated/leaf-rsa.key.pem'));
    await missing(page).getByText('Intermediate “Sample Issuing CA RSA” is missing').waitFor();
    await chains(page).getByText('missing', { exact: true }).waitFor();
    await chains(page)
      .getByText(/Key present: RSA 2048, leaf-rsa\.key\.pem/)
      .waitFor();
    await expectAccessible(page);

    await choose(page, sample('generated/int-rsa.cert.pem'), sample('generated/leaf-rsa.csr.pem'));
    await missing(page)
      .getByText(/Root “.*” is missing/)
      .waitFor();
    await missing(page).getByText('All there: chain and key are complete.').waitFor();
    await choose(page, sample('generated/root-rsa.cert.pem'), sample('generated/leaf-rsa.cert.der.cer'));
    await missing(page)
      .getByText(/Root “/)
      .waitFor({ state: 'hidden' });
    // Root, intermediate and server, each in the list of the one above.
    const depth = chains(page).locator('ul ul ul li').filter({ hasText: 'www.example.test' });
    await depth.first().waitFor();
    await chains(page)
      .getByText(/Request present/)
      .waitFor();
    await fileRow(page, 'leaf-rsa.cert.pem').getByText('duplicate, also in: leaf-rsa.cert.der.cer').waitFor();
    await depth.getByText('www.example.test, example.test').first().waitFor();
    await depth.getByRole('button', { name: 'Copy fingerprint' }).first().waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Remove “root-rsa.cert.pem”' }).click();
    await missing(page)
      .getByText(/Root “/)
      .waitFor();
    await page.getByRole('button', { name: 'Discard all' }).click();
    await files(page).waitFor({ state: 'hidden' });
  });

  it('that are locked ask for one password after the other, and are exported by keyboard in other formats', async () => {
    allow('400 POST /certificates/export');
    const page = await open();
    await choose(
      page,
      sample('generated/leaf-rsa.aes256-sha256mac.pfx'),
      sample('rustcrypto/ValidCertificatePathTest1EE_windows_aes.p12.pfx'),
      sample('generated/root-rsa.cert.pem'),
    );
    const password = page.getByLabel('Password of the file', { exact: true });
    await page.getByText(/^Encrypted: leaf-rsa.aes256-sha256mac.pfx, /).waitFor();
    await password.fill('nonsense');
    await password.press('Enter');
    await page.getByText('This password opened none of them.').waitFor();
    await expectAccessible(page);
    await password.fill('sample');
    await password.press('Enter');
    await page.getByText(/^Encrypted: ValidCertificatePathTest1EE_windows_aes/).waitFor();
    await fileRow(page, 'leaf-rsa.aes256').getByText(/1 key/).waitFor();
    await password.fill('password');
    await password.press('Enter');
    await password.waitFor({ state: 'detached' });
    await fileRow(page, 'leaf-rsa.aes256').getByText(/1 key/).waitFor();

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Export “www.example.test”' }).press('Enter');
    await dialog.getByRole('radio', { name: 'Certificate with chain (PEM)' }).waitFor();
    const chain = await download(page);
    expect(chain.name).toBe('www.example.test.pem');
    expect(chain.bytes.toString().match(/BEGIN CERTIFICATE/g)?.length).toBe(2);
    await dialog.getByRole('checkbox', { name: 'Include the root' }).check();
    expect((await download(page)).bytes.toString().match(/BEGIN CERTIFICATE/g)?.length).toBe(3);

    await dialog.getByRole('radio', { name: 'PFX / PKCS#12' }).check();
    await dialog.getByRole('button', { name: 'Download' }).press('Enter');
    await dialog.getByText('Please enter a password that protects the key.').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Password of the new file').fill('four loud herons');
    await dialog.getByRole('checkbox', { name: 'Encrypt for old systems' }).check();
    const pfx = await download(page);
    expect([pfx.name, pfx.bytes.subarray(0, 2).toString('hex')]).toEqual(['www.example.test.pfx', '3082']);
    await dialog.getByRole('radio', { name: 'Key (PKCS#1, PEM)' }).check();
    expect((await download(page)).bytes.toString()).toMatch(/^-----BEGIN RSA PRIVATE KEY/);
    // Nothing of it stays anywhere.
    expect(
      await page.evaluate(() => Object.values(localStorage).concat(Object.values(sessionStorage)).join()),
    ).not.toContain('PRIVATE');
  });

  it('refuse what cannot work: a wrong key, another key type, rubbish, and too much before it is sent', async () => {
    const made = makeCertificate({
      subject: 'odd.example.org',
      extensions: [alternativeNames(dnsName('odd.example.org'))],
    });
    allow('400 POST /certificates/export');
    const page = await open({ width: 360, height: 720 });
    await choose(
      page,
      fileOf('odd.pem', Buffer.from(made.pem)),
      sample('generated/leaf-ec.key.pem'),
      sample('generated/leaf-rsa.expired.cert.pem'),
      fileOf('holiday.jpg', Buffer.from('\xff\xd8\xff\xe0 nothing', 'latin1')),
      fileOf(
        'more.zip',
        zipOf([
          { name: 'in/leaf-ec.csr.pem', bytes: certificateSample('generated/leaf-ec.csr.pem').bytes },
          { name: 'in/note.txt', bytes: Buffer.from('hello') },
        ]),
      ),
    );
    await fileRow(page, 'holiday.jpg')
      .getByText(/Not supported: No certificate, key or request/)
      .waitFor();
    await fileRow(page, 'in/note.txt')
      .getByText(/Not supported/)
      .waitFor();
    await fileRow(page, 'in/leaf-ec.csr.pem').getByText('1 request').waitFor();
    await chains(page)
      .getByText(/expired \d+ days ago/)
      .waitFor();
    await missing(page).getByText('The key of “odd.example.org” is missing').waitFor();
    await expectAccessible(page);

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Export “odd.example.org”' }).click();
    expect(await dialog.getByRole('radio', { name: 'PFX / PKCS#12' }).isDisabled()).toBe(true);
    await dialog.getByText('does not belong to this certificate').first().waitFor();
    await expectAccessible(page);
    // Another window of the portal could still get there.
    await page.route('**/certificates/export', (route) =>
      route.fulfill({ status: 400, json: { statusCode: 400, code: 'KEY_MISMATCH', message: 'They differ.' } }),
    );
    await dialog.getByRole('button', { name: 'Download' }).click();
    await dialog.getByText('The key does not belong to the certificate.').waitFor();
    await page.keyboard.press('Escape');

    await choose(page, fileOf('disk.img', Buffer.alloc(2 * 1024 * 1024)));
    await page.getByText(/“disk.img” is larger than/).waitFor();
    await choose(page, ...Array.from({ length: 50 }, (_, n) => fileOf(`${n}.pem`, Buffer.from('x'))));
    await page.getByText(/50 are possible/).waitFor();
  });

  it('that take long can be stopped, and are tried again', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    const page = await drawn(await openPage('/app/certificates', { account }));
    let isHeld = true;
    await page.route('**/certificates/analyze', (route) => (isHeld ? undefined : route.continue()));
    await choose(page, sample('generated/leaf-ec.cert.pem'));
    await page.getByText('Uploading and checking…').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. Nothing was checked.').waitFor();
    isHeld = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await fileRow(page, 'leaf-ec.cert.pem').getByText('1 certificate').waitFor();
  });
});
