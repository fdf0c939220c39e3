import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { guidText } from '@portal/domain/directory/person';
import { directoryRuntime } from '@portal/testing/directory';
import {
  type ActiveDirectoryOptions,
  adGroup,
  adUser,
  fileTime,
  startActiveDirectory,
  type TestActiveDirectory,
} from '@portal/testing/servers/active-directory';
import { previewSync } from './preview-sync.ts';

const { adminOf, sync, account, usernames, memberships } = await directoryRuntime();

let server: TestActiveDirectory | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});
async function domain(options: ActiveDirectoryOptions): Promise<TestActiveDirectory> {
  server = await startActiveDirectory(options);
  return server;
}
const dn = (name: string) => `CN=${name},CN=Users,DC=corp,DC=example`;
const DAY = 86_400_000;

describe('a synchronization with Active Directory', { timeout: 120_000 }, () => {
  it('recognizes people by their objectGUID, even if they are renamed and moved', async () => {
    const ad = await domain({ objects: [adUser('Anna.Ad', { givenName: 'Anna', sn: 'Ad' })] });
    const ctx = await adminOf(ad, { userExcludeList: ['administrator'] });
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { read: 2, created: 1, skipped: 1 } });
    const before = await account(ctx, 'anna.ad');
    expect(before).toMatchObject({
      directoryId: guidText(ad.objectGuid(dn('Anna.Ad'))),
      displayName: 'Person Anna.Ad',
      firstName: 'Anna',
      email: 'anna.ad@corp.example',
    });
    ad.put({
      dn: 'OU=Moved,DC=corp,DC=example',
      attributes: { objectClass: ['top', 'organizationalUnit'], ou: 'Moved' },
    });
    ad.rename(dn('Anna.Ad'), 'CN=Anna New,OU=Moved,DC=corp,DC=example');
    ad.modify('CN=Anna New,OU=Moved,DC=corp,DC=example', { sAMAccountName: 'Anna.New' });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 0, updated: 1, deactivated: 0 } });
    expect(await account(ctx, 'anna.new')).toMatchObject({
      id: before.id,
      ldapDn: 'CN=Anna New,OU=Moved,DC=corp,DC=example',
    });
  });

  it('treats disabled and expired people as gone and creates no accounts for them', async () => {
    const ad = await domain({
      objects: [
        adUser('off', { userAccountControl: '514' }),
        adUser('expired', { accountExpires: fileTime(new Date(Date.now() - DAY)) }),
        adUser('expiring', { accountExpires: fileTime(new Date(Date.now() + DAY)) }),
        adUser('never', { accountExpires: '0' }),
        adUser('leaving'),
      ],
    });
    const ctx = await adminOf(ad, { userExcludeList: ['administrator'] });
    const preview = await previewSync(ctx);
    expect(preview).toMatchObject({ counts: { read: 6, created: 3, skipped: 3 } });
    expect(preview.changes.map(({ username }) => username).toSorted()).toEqual(['expiring', 'leaving', 'never']);
    expect(await sync(ctx)).toMatchObject({ counts: { read: 6, created: 3, skipped: 3 } });
    expect(await usernames(ctx)).toEqual(['expiring', 'leaving', 'never']);
    ad.modify(dn('leaving'), { userAccountControl: '66050' });
    ad.modify(dn('off'), { userAccountControl: '512' });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 1, deactivated: 1 } });
    expect(await account(ctx, 'leaving')).toMatchObject({ isActive: false, deactivatedBySync: true });
    ad.modify(dn('leaving'), { userAccountControl: '512' });
    expect(await sync(ctx)).toMatchObject({ counts: { reactivated: 1 } });
  });

  it('switches an account off once it expires, although its entry has not changed', async () => {
    const ad = await domain({ objects: [adUser('short')] });
    const ctx = await adminOf(ad, { userExcludeList: ['administrator'] });
    const expires = Date.now() + 5_000;
    ad.modify(dn('short'), { accountExpires: fileTime(new Date(expires)) });
    expect(await sync(ctx)).toMatchObject({ counts: { created: 1 } });
    await pause(Math.max(0, expires - Date.now()) + 500);
    expect(await sync(ctx)).toMatchObject({ counts: { deactivated: 1 } });
    expect(await sync(ctx)).toMatchObject({ counts: { deactivated: 0, reactivated: 0 } });
  });

  it('reads groups with thousands of members, nested and circular groups and the primary group', async () => {
    const many = Array.from({ length: 3_200 }, (_, n) => adUser(`m${n}`));
    const ad = await domain({
      objects: [
        ...many,
        adUser('lonely'),
        adGroup(
          'Everybody',
          many.map((user) => user.dn),
        ),
        adGroup('Outer', [dn('Everybody'), dn('Circle')]),
        adGroup('Circle', [dn('Outer')]),
      ],
      sendsEmptyPages: true,
    });
    const ctx = await adminOf(ad, { userExcludeList: ['Administrator'], includeDns: [dn('Outer')] });
    expect(await sync(ctx)).toMatchObject({ state: 'succeeded', counts: { read: 3_202, created: 3_200 } });
    const members = await memberships(ctx);
    expect(Object.keys(members)).toEqual(['Circle', 'Domain Users', 'Everybody', 'Outer']);
    for (const [name, found] of Object.entries(members)) expect(found, name).toHaveLength(3_200);
    expect(await sync(ctx)).toMatchObject({ counts: { created: 0, updated: 0, groups: 0, memberships: 0 } });
    ad.modify(dn('Everybody'), { member: many.slice(0, 3_199).map((user) => user.dn) });
    expect(await sync(ctx)).toMatchObject({ counts: { deactivated: 1, memberships: 4 } });
  });

  it('fails if a part of the domain is on another server, because its people would seem to have left', async () => {
    const ad = await domain({
      objects: [adUser('child')],
      references: ['ldap://child.corp.example/DC=child,DC=corp,DC=example'],
    });
    const ctx = await adminOf(ad);
    expect(await sync(ctx)).toMatchObject({ state: 'failed', error: expect.stringContaining('another server') });
  });
});
