import type { Page } from 'playwright-core';
import { certificateSample } from '@portal/testing/cert-samples';
import { chooseFiles } from './choose-file.ts';

/** A page, or a part of one that only opens by a click, for pictures to look at. */
export interface Scene {
  name: string;
  path: string;
  isPublic?: boolean;
  /** For a SUPER_ADMIN only. */
  isOperators?: boolean;
  /** Opens the part after the page is drawn. Names are German, the language of the pictures. */
  open?: (page: Page, width: number) => Promise<unknown>;
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).first().click();

const editMode = async (page: Page) => {
  await press(page, 'Bearbeiten');
  await page.getByRole('group', { name: 'Dashboard bearbeiten' }).waitFor();
};

/** An intermediate certificate is missing. */
const certificateFiles = ['generated/leaf-rsa.cert.pem', 'generated/leaf-rsa.key.pem'].map((path) => {
  const { name, bytes } = certificateSample(path);
  return { name, mimeType: 'application/x-pem-file', buffer: bytes };
});

const dialogField = (page: Page) => page.getByRole('dialog').getByRole('textbox').first().waitFor();

/** Dialogs and states that no address opens. */
export const scenes: Scene[] = [
  { name: 'edit-mode', path: '/app', open: editMode },
  {
    name: 'tile-menu',
    path: '/app',
    open: async (page) => {
      await editMode(page);
      await page
        .getByRole('article')
        .first()
        .getByRole('button', { name: /^Aktionen/ })
        .click();
      await page.getByRole('menuitem').first().waitFor();
    },
  },
  {
    name: 'add-tile',
    path: '/app',
    open: async (page) => {
      await editMode(page);
      await press(page, 'Kachel hinzufügen');
      await page.getByRole('dialog').getByRole('listitem').first().waitFor();
    },
  },
  {
    name: 'new-dashboard',
    path: '/app',
    open: async (page) => {
      await press(page, 'Neues Dashboard');
      await page.getByRole('dialog').getByRole('textbox').waitFor();
    },
  },
  {
    name: 'palette',
    path: '/app',
    open: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('option').first().waitFor();
    },
  },
  {
    name: 'help',
    path: '/app',
    open: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'notices',
    path: '/app',
    open: async (page) => {
      await page.getByRole('button', { name: /^Benachrichtigungen/ }).click();
      await page.getByRole('dialog').getByRole('heading').first().waitFor();
    },
  },
  {
    name: 'account-menu',
    path: '/app',
    open: async (page, width) => {
      if (width < 500) await press(page, 'Konto');
      else await press(page, /^Konto von/);
      await page
        .getByRole(width < 500 ? 'dialog' : 'menuitem')
        .first()
        .waitFor();
    },
  },
  {
    name: 'new-reminder',
    path: '/app/reminders?new=1',
    open: dialogField,
  },
  {
    name: 'new-tenant',
    path: '/app/admin/tenants?new=1',
    isOperators: true,
    open: dialogField,
  },
  {
    name: 'audit-entry',
    path: '/app/admin/audit-log',
    open: async (page) => {
      await page.getByRole('table').getByRole('link').first().click();
      await page.getByRole('dialog').getByRole('definition').first().waitFor();
    },
  },
  { name: 'new-server', path: '/app/virtualization?new=1', open: dialogField },
  { name: 'new-cloud', path: '/app/cloud-status?new=1', open: dialogField },
  {
    name: 'save-search',
    path: '/app/tenders?q=Netz',
    open: async (page) => {
      await press(page, 'Suche speichern');
      await dialogField(page);
    },
  },
  {
    name: 'tender-deadlines',
    path: '/app/tenders?view=calendar',
  },
  {
    name: 'certificate-result',
    path: '/app/certificates',
    open: async (page) => {
      await chooseFiles(page, page.getByRole('button', { name: 'Dateien auswählen' }), ...certificateFiles);
      await page.getByText('Was fehlt').first().waitFor();
    },
  },
  { name: 'calendar-week', path: '/app/calendar?view=week' },
  { name: 'new-calendar', path: '/app/calendar?view=sources&new=1', open: dialogField },
  {
    name: 'invoice-xml',
    path: '/app/invoices?state=all',
    open: async (page) => {
      await page.getByRole('row').filter({ hasText: 'SB-4711' }).getByRole('link').first().click();
      await page.locator('pre').waitFor();
    },
  },
  { name: 'invoice-mailbox', path: '/app/invoices?view=mailbox' },
  {
    name: 'bug-report',
    path: '/app/reminders',
    open: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByRole('button', { name: 'Fehler melden' }).click();
      await page.getByRole('textbox', { name: 'Worum geht es?' }).waitFor();
    },
  },
  {
    name: 'sign-in-refused',
    path: '/app/sign-in',
    isPublic: true,
    open: async (page) => {
      await page.getByRole('textbox', { name: 'Benutzername' }).fill('mara.muster');
      await page.getByRole('textbox', { name: 'Passwort' }).fill('nicht das richtige');
      await press(page, 'Anmelden');
      await page.getByRole('alert').locator('p').first().waitFor();
    },
  },
  {
    name: 'not-found',
    path: '/app/gibt-es-nicht',
  },
];
