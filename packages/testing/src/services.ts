import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs, mostly servers, that tests use if they are installed; with their Debian packages. */
export const services = [
  { binary: 'redis-server', debianPackage: 'redis-server', skipped: 'the tests of the queues on Redis' },
  { binary: 'slapd', debianPackage: 'slapd', skipped: 'the tests against a directory server' },
  { binary: 'dovecot', debianPackage: 'dovecot-imapd', skipped: 'the tests against a mailbox' },
  { binary: 'radicale', debianPackage: 'radicale', skipped: 'the tests against a calendar server' },
  {
    binary: 'chromium-headless-shell',
    debianPackage: 'chromium-headless-shell',
    skipped: 'the tests in a browser',
  },
  { binary: 'initdb', debianPackage: 'postgresql', skipped: 'the tests of a backup of containers and of two machines' },
  { binary: 'haproxy', debianPackage: 'haproxy', skipped: 'the tests of two machines and of the proxy' },
  { binary: 'curl', debianPackage: 'curl', skipped: 'the commands of the documents' },
  { binary: 'systemd-analyze', debianPackage: 'systemd', skipped: 'the judgment of systemd on the units' },
  { binary: 'openssl', debianPackage: 'openssl', skipped: 'the judgment of OpenSSL on exported certificates' },
] as const;

export type ServiceName = (typeof services)[number]['binary'];

// Debian installs servers in sbin, which not every PATH includes, and each version of PostgreSQL in a separate folder
const moreFolders = ['/usr/sbin', '/usr/local/sbin', ...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()];

/** The path of an installed program, or null; tests that need it use `describe.skipIf`. */
export const serviceBinary = (name: ServiceName): string | null => installedProgram(name);

/** The path of a program that the tests do not ask for, or null. */
export function installedProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...moreFolders];
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder: tries the next one
    }
  }
  return null;
}
