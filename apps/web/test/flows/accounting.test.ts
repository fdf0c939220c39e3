import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { accountingSample } from '@portal/testing/accounting-samples';
import { workbook } from '@portal/testing/workbook';
import { expectAccessible } from '../accessible.ts';
import { type ChosenFile, chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, accountFor, portalOf } = await servePages();

const fileOf = (name: string, content: string | Buffer): ChosenFile => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(content),
});
const choose = (page: Page, file: ChosenFile) =>
  chooseFiles(page, page.getByRole('button', { name: 'Choose file', exact: true }), file);
const preview = (page: Page) => page.getByRole('table', { name: 'Preview' });
const rowOf = (page: Page, text: string) => preview(page).getByRole('row').filter({ hasText: text });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name }).click();
const field = (page: Page, name: string | RegExp) => page.getByRole('textbox', { name });
const download = async (page: Page, start: () => Promise<void> = () => button(page, 'Download file').click()) => {
  const [saved] = await Promise.all([page.waitForEvent('download'), start()]);
  return { name: saved.suggestedFilename(), text: (await readFile(await saved.path())).toString('latin1') };
};

describe.skipIf(!hasBrowser)('canteen billing', () => {
  it('marks faults, is exported once the list and the settings are right, and asks about negative sums', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    allow('400 POST /accounting/canteen/preview', '400 PUT /accounting/canteen/settings');
    const page = await drawn(await openPage('/app/canteen-billing?month=2026-11', { account }));
    await page.getByText('The settings are incomplete.').waitFor();
    await choose(page, fileOf('rubbish.csv', accountingSample('canteen.utf-16.csv')));
    await page.getByText('The characters of this file cannot be read.').waitFor();
    await choose(
      page,
      fileOf('list.csv', 'PNR;Name;Datum;Betrag\n101;Ada;02.11.2026;4,50\nx9;Bob;40.11.2026;1,234\n1;2\n'),
    );
    await page.getByText('4 errors').waitFor();
    await rowOf(page, 'Bob').getByText('Column “Betrag”: more than two decimals').waitFor();
    await rowOf(page, 'Bob').getByText('Column “PNR”: not a personnel number').waitFor();
    expect(await button(page, 'Download file').isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.getByRole('link', { name: /^Errors only/ }).click();
    await rowOf(page, 'Ada').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?month=2026-11&view=errors');

    await choose(page, fileOf('list.csv', accountingSample('canteen.windows-1252.csv')));
    await page.getByText('Windows-1252').waitFor();
    await page.getByText('No row has an error.').waitFor();
    await page.getByRole('link', { name: 'By person' }).click();
    await page.getByRole('table', { name: 'By person' }).getByText('Käthe Müller').waitFor();

    await page.getByRole('link', { name: 'Open settings' }).click();
    await field(page, /^Consultant number/).fill('12');
    await field(page, /^Client number/).fill('12345');
    await field(page, /^Wage type/).fill('9010');
    await field(page, /^Wage type/).press('Enter');
    await page.locator('[aria-invalid="true"]').waitFor();
    await field(page, /^Consultant number/).fill('1234567');
    await expectAccessible(page);
    await button(page, 'Save').click();
    await page.getByText('The settings are saved.').waitFor();
    // The list is still there.
    await tab(page, 'Billing');
    const made = await download(page);
    expect(made.name).toBe('LODAS_1234567_12345_2026_11.txt');
    expect(made.text).toContain('1;01.11.2026;101;9010;3;-4,00;\r\n');

    await choose(page, fileOf('list.csv', 'PNR;Name;Betrag\n7;Eve;-2,00\n8;Bob;3,00\n'));
    await page.getByRole('table', { name: 'By person' }).getByText('Eve').waitFor();
    await button(page, 'Download file').press('Enter');
    await page.getByRole('dialog').getByText('7 Eve: -€2.00').waitFor();
    const negative = await download(page, () => button(page, 'Export anyway').click());
    expect(negative.text).toContain('1;01.11.2026;7;9010;3;2,00;\r\n');
  });

  it('tells an account without the right whom to ask, and one with it what somebody else saved meanwhile', async () => {
    const user = await accountFor({ module: 'canteen-billing', level: 'USE' });
    const plain = await drawn(await openPage('/app/canteen-billing?tab=settings', { account: user }));
    await plain.getByText('Please ask somebody who manages this area.').waitFor();
    expect(await plain.getByRole('navigation', { name: 'Areas' }).count()).toBe(0);

    const admin = await addAccount({ role: 'ADMIN', tenantId: user.tenantId });
    const page = await drawn(await openPage('/app/canteen-billing?tab=settings', { account: admin }));
    await field(page, /^Wage type/).fill('9010');
    await portalOf(await addAccount({ role: 'ADMIN', tenantId: user.tenantId })).put('/accounting/canteen/settings', {
      body: { beraternummer: '', mandantennummer: '', lohnart: '9070', target: 'lodas', sign: 'minus' },
    });
    await button(page, 'Save').click();
    await page.getByRole('dialog').getByText('9070').waitFor();
    await button(page, 'Save my entries').click();
    await page.getByText('The settings are saved.').waitFor();
    expect((await portalOf(admin).get('/accounting/canteen/settings')).lohnart).toBe('9010');
  });
});

describe.skipIf(!hasBrowser)('the merchandise export', () => {
  const list = workbook([
    ['Artikel', 'November 2026'],
    ['T-Shirts', 1000],
    ['Tasse', '12,50'],
    ['Gutscheine', 20],
  ]);

  it('assigns accounts, keeps them while the list changes elsewhere, and says which rows changed', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    const add = (number: string, name: string) =>
      other.post('/accounting/merchandise/accounts', { body: { number, name } });
    await add('8400', 'T-Shirts');
    await add('8401', 'Tassen');
    allow('400 POST /accounting/merchandise/preview', '409 POST /accounting/merchandise/export');
    const page = await drawn(await openPage('/app/merchandise-export', { account }));
    await choose(page, fileOf('rubbish.xlsx', 'nothing'));
    await page.getByText('This is not an XLSX file.').waitFor();
    await choose(page, fileOf('faults.xlsx', accountingSample('merchandise-faults.xlsx')));
    await preview(page).getByText('Column “B”: a date instead of an amount').waitFor();
    await page.getByRole('link', { name: /^Errors only/ }).click();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'All rows' }).click();
    await choose(page, fileOf('list.xlsx', list));
    await page.getByText('2 names have no valid account yet.').waitFor();
    await page.getByText('Similar: “Tassen” has account 8401.').waitFor();
    const tasse = page.getByRole('combobox', { name: 'Account for “Tasse”' });
    await tasse.fill('8401');
    await page.getByText('Already belongs to “Tassen”.').waitFor();
    await tasse.fill('8405');
    // Enter goes on.
    await tasse.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Account for “Gutscheine”',
    );
    await button(page, 'Fill in free numbers').click();
    await rowOf(page, 'Gutscheine').getByText('8402').waitFor();
    expect(await rowOf(page, 'Gutscheine').getByText('new', { exact: true }).count()).toBe(1);
    await expectAccessible(page);

    await add('8409', 'Gutscheine');
    await button(page, 'Download file').click();
    const changes = page.getByRole('table', { name: 'The account list has changed meanwhile' });
    await changes.getByRole('row').filter({ hasText: 'Gutscheine' }).getByText('8409').waitFor();
    expect(await changes.getByRole('row').count()).toBe(2);
    await page.getByText('Account 8409 “Gutscheine” is new').waitFor();
    expect(await tasse.inputValue()).toBe('8405');
    await expectAccessible(page);

    const made = await download(page);
    expect(made.text).toBe(
      'Konto;Bezeichnung;Betrag;Zeitraum\r\n8400;T-Shirts;1000,00;11/2026\r\n8405;Tasse;12,50;11/2026\r\n8409;Gutscheine;20,00;11/2026\r\n',
    );
    await page.getByText('One new account was created.').waitFor();
    // Once more: now all accounts are known.
    await page.getByRole('region', { name: 'Assign accounts' }).waitFor({ state: 'detached' });
    expect((await download(page)).text).toBe(made.text);
  });

  it('saves what was typed right before Enter, although nothing was painted in between', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    const page = await drawn(await openPage('/app/merchandise-export?tab=accounts', { account }));
    await button(page, 'New account').click();
    await field(page, /^Number/).fill('8400');
    // Only promises: a browser paints between tasks.
    await field(page, /^Name/).evaluate(async (name: HTMLInputElement) => {
      name.value = 'T-Shirts';
      name.dispatchEvent(new InputEvent('input', { bubbles: true }));
      for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
      name.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      name.form?.requestSubmit();
    });
    await page.getByRole('table', { name: 'Account list' }).getByText('T-Shirts').waitFor();
  });

  it('has accounts that are added, changed, deleted, searched, and replaced by a file after a comparison', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    allow('400 POST /accounting/merchandise/accounts', '409 POST /accounting/merchandise/accounts');
    const page = await drawn(await openPage('/app/merchandise-export?tab=accounts', { account }));
    const dialog = page.getByRole('dialog');
    const accounts = page.getByRole('table', { name: 'Account list' });
    const add = async (number: string, name: string) => {
      await button(page, 'New account').click();
      await field(page, /^Number/).fill(number);
      await field(page, /^Name/).fill(name);
      await field(page, /^Name/).press('Enter');
    };
    await page.getByText('No accounts yet.').waitFor();
    for (const [number, name] of [
      ['8400', 'T-Shirts'],
      ['8401', 'Tassen'],
      ['8402', 'Bücher'],
    ] as const) {
      await add(number, name);
      await accounts.getByText(name).waitFor();
    }
    await add('8400', 'Other');
    await dialog.getByText('Another account already has this number or this name.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();

    await button(page, 'Edit account 8402').click();
    await field(page, /^Name/).fill('Bücher neu');
    await button(page, 'Save').click();
    await accounts.getByText('Bücher neu').waitFor();
    await page.getByRole('searchbox', { name: 'Number or name' }).fill('tas');
    await accounts.getByText('T-Shirts').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?tab=accounts&search=tas');
    await button(page, 'Delete account 8401').click();
    await dialog.getByText('“Tassen”').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Account 8401 was deleted.').waitFor();
    await page.getByRole('searchbox', { name: 'Number or name' }).fill('');
    const exported = await download(page, () => button(page, 'Export').click());
    expect(exported.name).toBe('Konten.csv');

    await button(page, 'Import…').click();
    await chooseFiles(
      page,
      dialog.getByRole('button', { name: 'Choose file' }),
      fileOf('bad.csv', 'Konto;Name\n1;a\nx;b\n'),
    );
    await dialog.getByText('Column “Konto”: not an account number').waitFor();
    const next = fileOf('new.csv', 'Konto;Name\n8400;Hemden\n8403;Mützen\n');
    await chooseFiles(page, dialog.getByRole('button', { name: 'Choose file' }), next);
    const comparison = dialog.getByRole('table', { name: 'Change' });
    await comparison.getByRole('row').filter({ hasText: '8402' }).getByText('Gone').waitFor();
    await comparison.getByRole('row').filter({ hasText: '8400' }).getByText('Hemden').waitFor();
    await expectAccessible(page);
    // Somebody else was quicker, so the comparison is another one.
    await portalOf(account).post('/accounting/merchandise/accounts', { body: { number: '8499', name: 'Neu' } });
    await button(page, 'Replace list').click();
    await dialog.getByText('Please check the new comparison.').waitFor();
    await comparison.getByText('8499').waitFor();
    await button(page, 'Replace list').click();
    await page.getByText('Imported: 1 new, 1 changed, 2 gone.').waitFor();
    await accounts.getByText('Mützen').waitFor();

    await tab(page, 'Settings');
    await page.getByRole('radio', { name: 'DATEV Buchungsstapel (EXTF)' }).check();
    await button(page, 'Save').click();
    await page.getByText('The settings are saved.').waitFor();
    await expectAccessible(page);
    await tab(page, 'Export');
    await page.getByText('The settings are incomplete.').waitFor();
  });
});
