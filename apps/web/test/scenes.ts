import type { Page } from 'playwright-core';

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
    open: (page) => page.getByRole('dialog').getByRole('textbox').first().waitFor(),
  },
  {
    name: 'new-tenant',
    path: '/app/admin/tenants?new=1',
    isOperators: true,
    open: (page) => page.getByRole('dialog').getByRole('textbox').first().waitFor(),
  },
  {
    name: 'audit-entry',
    path: '/app/admin/audit-log',
    open: async (page) => {
      await page.getByRole('table').getByRole('link').first().click();
      await page.getByRole('dialog').getByRole('definition').first().waitFor();
    },
  },
  {
    name: 'sign-in-refused',
    path: '/app/sign-in',
    isPublic: true,
    open: async (page) => {
      await page.getByRole('textbox', { name: 'Benutzername' }).fill('mara.muster');
      await page.getByLabel(/^Passwort/).fill('nicht das richtige');
      await press(page, 'Anmelden');
      await page.getByRole('alert').locator('p').first().waitFor();
    },
  },
  {
    name: 'not-found',
    path: '/app/gibt-es-nicht',
  },
];
