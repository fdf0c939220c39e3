import { describe, expect, it } from 'vitest';
import { hasBrowser } from './chromium.ts';
import { drawn } from './drawn.ts';
import { pageList } from './page-list.ts';
import { servePages } from './serve-pages.ts';
import { isLong, looks, walkPage } from './walk.ts';

const stage = await servePages();
const { openPage, allow, addAccount, portalOf } = stage;
const pages = await pageList();

describe.skipIf(!hasBrowser).each(looks)('in $language, $theme, $width px wide', (look) => {
  const mine = pages.filter((_, n) => isLong || n % looks.length === looks.indexOf(look));
  it.each(mine)('$path has a name, a heading, and nothing that axe finds', (page) => walkPage(stage, page, look));
});

describe.skipIf(!hasBrowser)('an address', () => {
  it.each(['/app/nothing-here', '/app/me/nothing-here'])('without a page, %s, says so', async (path) => {
    const page = await openPage(path, { account: await addAccount() });
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Go to the dashboard' }).click();
    await page.waitForURL('**/app');
  });

  it.each(pages.filter(({ who }) => who !== 'public' && who !== 'account'))(
    '$path that the account may not open says why, and the navigation does not list it',
    async ({ path }) => {
      const page = await openPage(path.replace(/:\w+/, '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11'), {
        account: await addAccount(),
      });
      await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor();
      await page.getByText(/^Only|^You have no access|^You may use|is switched off/).waitFor();
      expect(await page.getByRole('navigation').locator(`a[href="${path}"]`).count()).toBe(0);
    },
  );

  it('of a dashboard or module that belongs to somebody else says that it does not exist', async () => {
    const owner = portalOf(await addAccount());
    const [tab] = await owner.get('/dashboard/tabs');
    const { id: moduleId } = await owner.post('/custom-modules', {
      body: { name: 'Wiki', url: 'https://wiki.example.org/', category: 'custom-modules' },
    });
    const account = await addAccount();
    allow('404 ');
    for (const path of [`/app/tabs/${tab?.id}`, `/app/modules/${moduleId}`, '/app/tabs/x', '/app/modules/x']) {
      const page = await openPage(path, { account });
      await drawn(page);
      await page
        .getByText(/not found|does not exist|no longer exists|never existed|deleted/i)
        .first()
        .waitFor();
    }
  });
});
