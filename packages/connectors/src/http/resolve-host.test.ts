import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startDnsServer } from '@portal/testing/servers/dns-server';
import { resolveByDns, resolveLocally } from './resolve-host.ts';

const dns = await startDnsServer({
  mail: () => ({ addresses: ['172.18.0.5'] }),
  'dc1.corp.test': () => ({ addresses: ['10.1.0.1'] }),
  'dc1.sub.corp.test': () => ({ addresses: ['10.2.0.1'] }),
  'ldap.prod.corp.test': () => ({ addresses: ['10.3.0.1'] }),
  'ldap.prod': () => ({ addresses: ['10.4.0.1'] }),
  'listed.corp.test': () => ({ addresses: ['10.5.0.1'] }),
});
const folder = await mkdtemp(join(tmpdir(), 'portal-hosts-'));
afterAll(() => Promise.all([dns.close(), rm(folder, { recursive: true })]));

const hostsFile = join(folder, 'hosts');
await writeFile(
  hostsFile,
  `127.0.0.1 localhost
::1 localhost ip6-localhost # 10.9.9.9 commented
10.6.0.1\tListed.corp.test  listed
#10.7.0.1 gone
nonsense broken
`,
);

let files = 0;
/** Resolves a name on a machine with these settings. */
async function addressesOf(name: string, settings = '', hosts = hostsFile): Promise<string[]> {
  const settingsFile = join(folder, `resolv-${(files += 1)}.conf`);
  await writeFile(settingsFile, settings);
  const resolve = resolveByDns([dns.server]);
  return resolveLocally({ hostsFile: hosts, settingsFile, resolve })(name, AbortSignal.timeout(20_000));
}

describe('a name that an administrator set', () => {
  it('is first looked up in the hosts file, case-insensitively', async () => {
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await addressesOf('listed.CORP.test')).toEqual(['10.6.0.1']);
    await expect(addressesOf('gone')).rejects.toThrow();
    await expect(addressesOf('commented')).rejects.toThrow();
    await expect(addressesOf('broken')).rejects.toThrow();
  });

  it('is this machine if it is localhost, regardless of the files', async () => {
    for (const name of ['localhost', 'LOCALHOST', 'any.localhost'])
      expect(await addressesOf(name, 'search corp.test', join(folder, 'none'))).toEqual(['127.0.0.1', '::1']);
  });

  it('is looked up in DNS unchanged, such as the name of a neighboring container', async () => {
    expect(await addressesOf('mail')).toEqual(['172.18.0.5']);
    expect(await addressesOf('mail', 'search corp.test')).toEqual(['172.18.0.5']);
    await expect(addressesOf('dc1')).rejects.toThrow();
  });

  it('is looked up in the search domains of this machine', async () => {
    expect(await addressesOf('dc1', 'nameserver 10.0.0.1\nsearch sub.corp.test corp.test')).toEqual(['10.2.0.1']);
    expect(await addressesOf('dc1', 'search sub.corp.test\nsearch other.test corp.test.')).toEqual(['10.1.0.1']);
    expect(await addressesOf('dc1', 'domain corp.test')).toEqual(['10.1.0.1']);
    expect(await addressesOf('dc1', 'search .\nsearch . corp.test')).toEqual(['10.1.0.1']);
    expect(await addressesOf('dc1.sub', 'search corp.test')).toEqual(['10.2.0.1']);
  });

  it('with fewer dots than `ndots` is looked up in the search domains first', async () => {
    expect(await addressesOf('ldap.prod', 'search corp.test')).toEqual(['10.4.0.1']);
    expect(await addressesOf('ldap.prod', 'search corp.test\noptions timeout:1 ndots:5')).toEqual(['10.3.0.1']);
  });

  it('is given up at the time limit', async () => {
    const resolve = () => new Promise<string[]>((_, reject) => setTimeout(reject, 50, new Error('not found')));
    const settingsFile = join(folder, 'resolv.conf');
    await writeFile(settingsFile, 'search a b c');
    const signal = AbortSignal.timeout(20);
    await expect(resolveLocally({ hostsFile, settingsFile, resolve })('x', signal)).rejects.toThrow('timeout');
  });
});
