import { NewCalendarSource } from '@portal/domain/calendar/sources';
import { LdapConfigInput } from '@portal/domain/directory/config';
import { newId } from '@portal/domain/ids';
import { NewCustomModule } from '@portal/domain/modules/custom-modules';
import { NewRssFeed } from '@portal/domain/tenders/feeds';
import { NewSavedSearch } from '@portal/domain/tenders/saved-searches';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { startRun } from '@portal/platform/runs/start';
import { deadForm } from '@portal/testing/monitoring';
import { tinyGif } from '@portal/testing/pictures';
import { noticeRecord } from '@portal/testing/tender-notices';
import { createAccount } from '@portal/usecases/accounting/accounts';
import { addSource } from '@portal/usecases/calendar/sources';
import { uploadLogo } from '@portal/usecases/cloud-status/logo';
import { uploadIcon } from '@portal/usecases/dashboards/favorite-icon';
import { addFavorite } from '@portal/usecases/dashboards/favorites';
import { addImage } from '@portal/usecases/dashboards/images';
import { createTab } from '@portal/usecases/dashboards/tabs';
import { addWidget } from '@portal/usecases/dashboards/widgets';
import { putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { addLdapMapping } from '@portal/usecases/directory/ldap-mappings';
import { startSync } from '@portal/usecases/directory/start-sync';
import { createCategory } from '@portal/usecases/modules/categories';
import { createCustomModule } from '@portal/usecases/modules/custom-modules';
import { createGroup } from '@portal/usecases/modules/groups';
import { createServer } from '@portal/usecases/monitoring/servers';
import { createSavedSearch } from '@portal/usecases/tenders/alerts/saved-searches';
import { createFeed } from '@portal/usecases/tenders/feeds';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import type { testApp } from '../testing/app.ts';

type Api = Pick<Awaited<ReturnType<typeof testApp>>, 'make' | 'signedIn' | 'runtime'>;
type Account = Awaited<ReturnType<Api['make']['user']>>;
/** Creates a record and returns its id, or states why no tenant owns the records of this path. */
export type RecordMaker = (() => Promise<string>) | { notOwned: string };

/** By path: the maker of a record that belongs to this administrator's tenant or one of its users. */
export function recordsOf({ make, signedIn, runtime }: Api, them: Account): Record<string, RecordMaker> {
  async function userWithAvatar(tenantId: string) {
    const { files } = runtime.system({ requestId: '', ip: null, userAgent: null });
    const { path } = await files.write('avatars', newId(), 'webp', Buffer.from('picture'), { maxBytes: 100 });
    return make.user({ tenantId, avatarPath: path });
  }

  const sharedModule = NewCustomModule.parse({ name: 'Wiki', url: 'https://wiki.example.org', shared: true });
  const makeTab = async () => (await createTab(await signedIn(await make.user({ tenantId: them.tenantId })))).id;

  async function makeWidget(account?: Account) {
    const owner = await signedIn(account ?? (await make.user({ tenantId: them.tenantId })));
    const { id: tabId } = await createTab(owner);
    return (await addWidget(owner, { tabId, type: 'favorites', config: {} })).id;
  }

  async function favoriteWithIcon() {
    const account = await make.user({ tenantId: them.tenantId });
    const widgetId = await makeWidget(account);
    const owner = await signedIn(account);
    const { id } = await addFavorite(owner, { widgetId, title: 'Wiki', url: 'https://wiki.example.org' });
    await uploadIcon(owner, id, async () => tinyGif);
    return id;
  }

  async function makeCloud() {
    const { id } = await make.cloudInstance(them.tenantId);
    await uploadLogo(await signedIn(them), id, async () => tinyGif);
    return id;
  }

  /** An administrator of a new tenant, whose directory has no run in progress. */
  async function directoryAdmin() {
    const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
    await putLdapConfig(ctx, LdapConfigInput.parse({ serverUrl: 'ldap://127.0.0.1:1', baseDn: 'dc=example' }));
    return ctx;
  }

  const theirServer = async () => (await createServer(await signedIn(them), deadForm())).id;

  const theirCalendar = async () =>
    (
      await addSource(
        await signedIn(them),
        NewCalendarSource.parse({ name: 'Team', kind: 'ics', url: 'https://calendar.example.org/team.ics' }),
      )
    ).id;

  /** Account numbers are unique within a list. */
  let accounts = 0;

  async function theirInvoice() {
    const { files } = runtime.system({ requestId: '', ip: null, userAgent: null });
    const { path } = await files.write('invoice-documents', newId(), 'xml', Buffer.from('<a/>'), { maxBytes: 100 });
    return (await make.invoice(them.tenantId, { path })).id;
  }

  const theirFeed = async () =>
    createFeed(
      await signedIn(await make.user({ tenantId: them.tenantId })),
      NewRssFeed.parse({ url: `https://feed.example/${newId()}`, scope: 'personal' }),
    );

  /** A tender that only their feed contains. */
  async function theirTender() {
    const { sourceKey } = await theirFeed();
    const system = runtime.system({ requestId: '', ip: null, userAgent: null });
    const { tenderIds } = await storeNotices(system, [noticeRecord({ sourcePortal: sourceKey })]);
    return tenderIds[0] ?? '';
  }

  async function theirSavedSearch() {
    const ctx = await signedIn(await make.user({ tenantId: them.tenantId }));
    return (await createSavedSearch(ctx, NewSavedSearch.parse({ name: newId(), filters: {} }))).id;
  }

  return {
    '/auth/sessions/:id': async () => (await make.session(them)).id,
    '/users/:id': async () => (await make.user({ tenantId: them.tenantId })).id,
    '/users/:id/reset-password': async () => (await make.user({ tenantId: them.tenantId })).id,
    '/users/:id/avatar': async () => (await userWithAvatar(them.tenantId)).id,
    '/users/:id/welcome-mail': async () => (await make.user({ tenantId: them.tenantId })).id,
    '/users/:id/logout-all': async () => (await make.user({ tenantId: them.tenantId })).id,
    '/dashboard/tabs/:id': makeTab,
    '/dashboard/tabs/:id/layout': makeTab,
    '/dashboard/tabs/:id/widgets': makeTab,
    '/dashboard/widgets/:id': () => makeWidget(),
    '/favorites/:id': favoriteWithIcon,
    '/favorites/:id/icon': favoriteWithIcon,
    '/favorites/:id/discover-icon': favoriteWithIcon,
    '/dashboard/images/:id': async () =>
      (await addImage(await signedIn(them), { name: 'fest.gif', bytes: tinyGif })).id,
    '/runs/:id': async () => (await startRun(await signedIn(them), deliverMails, { tenantId: them.tenantId })).runId,
    '/groups/:id': async () => (await createGroup(await signedIn(them), { internalName: newId() })).id,
    '/groups/:id/members': async () => (await createGroup(await signedIn(them), { internalName: newId() })).id,
    '/modules/:key': { notOwned: 'modules belong to the product; a tenant only switches them' },
    '/module-categories/:key': async () => (await createCategory(await signedIn(them), { name: newId() })).key,
    '/custom-modules/:id': async () => (await createCustomModule(await signedIn(them), sharedModule)).id,
    '/accounting/merchandise/accounts/:id': async () =>
      (await createAccount(await signedIn(them), { number: `${(accounts += 1)}`, name: newId() })).account.id,
    '/reminders/:id': async () => (await make.reminder(them)).id,
    '/reminders/:id/snooze': async () => (await make.reminder(them, { dueAt: new Date(0) })).id,
    '/reminders/:id/done': async () => (await make.reminder(them, { dueAt: new Date(0) })).id,
    '/cloud-status/instances/:id': makeCloud,
    '/cloud-status/instances/:id/logo': makeCloud,
    '/cloud-status/instances/:id/check': makeCloud,
    '/cloud-status/instances/:id/subscription': makeCloud,
    '/ldap/mappings/:id': async () =>
      (await addLdapMapping(await signedIn(them), { ldapAttribute: `x-${newId()}`, field: 'lastName' })).id,
    '/ldap/sync/runs/:id': async () => (await startSync(await directoryAdmin(), {})).runId,
    '/invoices/:id': theirInvoice,
    '/invoices/:id/document': theirInvoice,
    '/desktop/download/:platform': { notOwned: 'the operator provides the desktop packages for all users' },
    '/virtualization/servers/:id': theirServer,
    '/virtualization/servers/:id/history': theirServer,
    '/virtualization/servers/:id/test': theirServer,
    '/calendar/sources/:id': theirCalendar,
    '/calendar/sources/:id/test': theirCalendar,
    '/tenders/:id': theirTender,
    '/tenders/:id/triage': theirTender,
    '/tenders/sources/:key/run': { notOwned: 'sources belong to the platform; only SUPER_ADMIN starts their reads' },
    '/tenders/saved-searches/:id': theirSavedSearch,
    '/unsubscribe/:token': { notOwned: 'the link itself authorizes the call and names its account' },
    '/rss-feeds/:id': async () => (await theirFeed()).id,
    '/tenants/:id': { notOwned: 'SUPER_ADMIN manages tenants across all of them' },
  };
}
