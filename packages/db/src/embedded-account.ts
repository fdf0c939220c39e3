import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Account {
  uid: number;
  gid: number;
}

/**
 * The operating system account that the server must run as; null for our own account.
 * PostgreSQL refuses to run as root. Root therefore starts it under the account that owns the cluster, or for a new cluster under an
 * unprivileged account.
 */
export async function serverAccount(cluster: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(cluster).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = parseAccounts(await readFile('/etc/passwd', 'utf8'));
  const plain = accounts.get('postgres') ?? accounts.get('_postgres') ?? accounts.get('nobody');
  if (!plain) {
    throw new Error(
      'The embedded PostgreSQL does not run as root, and this system has neither an account "postgres" nor "nobody". ' +
        'Start as another user or set DATABASE_URL.',
    );
  }
  return plain;
}

/** Accounts by name from the text of /etc/passwd. */
export function parseAccounts(passwd: string): Map<string, Account> {
  const accounts = new Map<string, Account>();
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || !uid || !gid) continue;
    // macOS lists the account `nobody` with id -2; the kernel uses unsigned ids
    accounts.set(name, { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 });
  }
  return accounts;
}

/** Whether the account may pass through every folder above the path and use the path itself (read and execute). */
export async function canUse(account: Account | null, path: string): Promise<boolean> {
  if (!account) return true;
  if (!(await allows(account, path, 0o5))) return false;
  return canReach(account, path);
}

/** Whether the account may pass through every folder above the path. */
export async function canReach(account: Account | null, path: string): Promise<boolean> {
  if (!account) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!(await allows(account, folder, 0o1))) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function allows({ uid, gid }: Account, path: string, rights: number): Promise<boolean> {
  const { mode, uid: ownerUid, gid: ownerGid } = await stat(path);
  const granted = uid === ownerUid ? mode >> 6 : gid === ownerGid ? mode >> 3 : mode;
  return (granted & rights) === rights;
}
