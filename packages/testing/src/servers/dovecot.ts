import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { serviceBinary } from '../services.ts';
import { freePort } from './private-process.ts';
import { caCertificatePem, fixturePath, type ServerCertificate } from './tls.ts';

export interface DovecotOptions {
  /** The unencrypted port; default any free port. */
  port?: number;
  /** Default `localhost`. */
  certificate?: ServerCertificate;
  /** Extensions that the server does not offer, such as `MOVE`. */
  without?: string[];
}

export interface TestDovecot {
  host: '127.0.0.1';
  /** Unencrypted, with STARTTLS on offer. */
  port: number;
  tlsPort: number;
  /** The password of every user name; each has a mailbox. */
  password: string;
  /** The authority that issued the server's certificate. */
  caCertificatePem: string;
  pid: number;
  /** Puts an unseen mail into a folder as a mail server would: received now and once by default. */
  deliver(
    user: string,
    mail: string | Uint8Array,
    folder?: string,
    more?: { receivedAt?: Date; copies?: number },
  ): Promise<void>;
  makeFolder(user: string, folder: string): Promise<void>;
  /** Mails of a folder with their flags, in order of arrival; the flag of new mails is `recent`. */
  mails(user: string, folder?: string): Promise<{ bytes: Buffer; flags: string }[]>;
  /** Removes every mail from a folder. */
  empty(user: string, folder?: string): Promise<void>;
  /** Gives every mail of a folder a new UID, as after a restore. */
  renumber(user: string, folder?: string): Promise<void>;
  stop(): Promise<void>;
}

const password = 'mailbox-secret';

const configuration = (
  folder: string,
  ports: { port: number; tlsPort: number },
  user: string,
  options: DovecotOptions,
) => `
base_dir = ${folder}/run
state_dir = ${folder}/state
protocols = imap
listen = 127.0.0.1
log_path = ${folder}/log
mail_location = maildir:${folder}/mail/%u
mail_max_userip_connections = 0
mail_fsync = never
auth_mechanisms = plain login
# Answers a wrong password at once.
auth_failure_delay = 0
disable_plaintext_auth = no
ssl = yes
ssl_cert = <${folder}/certificate.pem
ssl_key = <${folder}/key.pem
default_login_user = ${user}
default_internal_user = ${user}
default_internal_group = ${userGroup()}
first_valid_uid = 0
first_valid_gid = 0
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${user} gid=${userGroup()} home=${folder}/mail/%u
}
service anvil {
  chroot =
  # A wrong password does not delay the next sign-in from this machine.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  # One process for many connections.
  service_count = 0
  process_min_avail = 1
  inet_listener imap {
    port = ${ports.port}
  }
  inet_listener imaps {
    port = ${ports.tlsPort}
  }
}
service imap {
  process_limit = 100
  service_count = 0
}
protocol imap {
  ${capabilities(options.without)}
}
`;

// The capabilities of Debian's version after a sign-in, as far as our clients use them.
const offered = ['IMAP4rev1', 'LITERAL+', 'ID', 'ENABLE', 'UIDPLUS', 'MOVE', 'NAMESPACE', 'ESEARCH'];
const capabilities = (without: string[] = []): string =>
  without.length === 0 ? '' : `imap_capability = ${offered.filter((one) => !without.includes(one)).join(' ')}`;

/** The server does not run as root, so Debian's account `nobody` runs it. */
const nobodyId = 65_534;
const isRoot = process.getuid?.() === 0;
const userName = (): string => (isRoot ? 'nobody' : userInfo().username);
const userGroup = (): string => (isRoot ? 'nogroup' : String(userInfo().gid));

/** Starts Debian's Dovecot as a private process on 127.0.0.1; stopping it deletes its mailboxes. */
export async function startDovecot(options: DovecotOptions = {}): Promise<TestDovecot> {
  const binary = serviceBinary('dovecot');
  if (!binary) throw new Error('dovecot is not installed');
  const root = await mkdtemp(join(tmpdir(), 'portal-test-dovecot-'));
  const own = async (path: string) => {
    if (isRoot) await chown(path, nobodyId, nobodyId);
  };
  await chmod(root, 0o755);
  for (const folder of ['', 'run', 'state', 'mail']) {
    await mkdir(join(root, folder), { recursive: true });
    await own(join(root, folder));
  }
  for (const [name, fixture] of [
    ['certificate', options.certificate ?? 'localhost'],
    ['key', 'key'],
  ] as const) {
    await copyFile(fixturePath(fixture), join(root, `${name}.pem`));
    await own(join(root, `${name}.pem`));
  }
  await writeFile(join(root, 'log'), '');
  await own(join(root, 'log'));

  const ports = { port: options.port ?? (await freePort()), tlsPort: await freePort() };
  await writeFile(join(root, 'dovecot.conf'), configuration(root, ports, userName(), options));
  const server = spawn(binary, ['-F', '-c', join(root, 'dovecot.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid: nobodyId, gid: nobodyId }),
  });
  let complaint = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-2_000)));

  async function stop(): Promise<void> {
    if (server.exitCode === null && server.signalCode === null) {
      const ended = once(server, 'exit');
      // Its child processes end with it on SIGTERM, but not on SIGKILL.
      server.kill('SIGTERM');
      await ended;
    }
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
  if (!(await isAccepting(server, ports.port))) {
    const log = await readFile(join(root, 'log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`dovecot did not start: ${complaint}${log}`);
  }

  // Maildir++: folders are siblings, with a dot before each level and names in IMAP's encoding.
  const place = (user: string, folder: string): string =>
    join(root, 'mail', user, folder === 'INBOX' ? '' : `.${encodedName(folder)}`);
  async function makeFolder(user: string, folder: string): Promise<string> {
    const at = place(user, folder);
    for (const inner of ['', 'cur', 'new', 'tmp']) {
      await mkdir(join(at, inner), { recursive: true });
      await own(join(at, inner));
    }
    await own(join(root, 'mail', user));
    return at;
  }

  const made: Record<string, Promise<string>> = {};
  let delivered = 0;
  return {
    host: '127.0.0.1',
    ...ports,
    password,
    caCertificatePem,
    pid: server.pid as number,
    async deliver(user, mail, folder = 'INBOX', { receivedAt, copies = 1 } = {}) {
      const at = place(user, folder);
      made[at] ??= makeFolder(user, folder);
      await made[at];
      const bytes = Buffer.from(mail);
      // Names sort in order of arrival and contain the size, which Dovecot would otherwise compute.
      const nextName = () => {
        delivered += 1;
        return `${1_700_000_000 + delivered}.M${String(delivered).padStart(8, '0')}.test,S=${bytes.length}`;
      };
      const name = nextName();
      const unfinished = join(at, 'tmp', name);
      await writeFile(unfinished, bytes);
      await own(unfinished);
      if (receivedAt) await utimes(unfinished, receivedAt, receivedAt);
      for (let copy = 1; copy < copies; copy += 1) await link(unfinished, join(at, 'new', nextName()));
      await rename(unfinished, join(at, 'new', name));
    },
    makeFolder: async (user, folder) => void (await makeFolder(user, folder)),
    async mails(user, folder = 'INBOX') {
      // The server may still be moving mails for a client that has gone: then this reads the folder again.
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await mailsAt(place(user, folder));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 5) throw error;
          await pause(50);
        }
      }
    },
    async empty(user, folder = 'INBOX') {
      for (const inner of ['cur', 'new']) {
        const at = join(place(user, folder), inner);
        for (const name of await readdir(at)) await rm(join(at, name), { force: true });
      }
    },
    async renumber(user, folder = 'INBOX') {
      const at = place(user, folder);
      // The server may still be cleaning up its files.
      for (const name of await readdir(at)) if (name.startsWith('dovecot')) await rm(join(at, name), { force: true });
      // UIDVALIDITY is a time in seconds.
      await pause(1_100);
    },
    stop,
  };
}

/** The mails of a Maildir in order of arrival, with the letters of their flags. */
async function mailsAt(folder: string): Promise<{ bytes: Buffer; flags: string }[]> {
  const found: { name: string; bytes: Buffer; flags: string }[] = [];
  for (const inner of ['cur', 'new']) {
    const at = join(folder, inner);
    for (const name of await readdir(at).catch(() => [])) {
      const flags = inner === 'new' ? 'recent' : (name.split(':2,')[1] ?? '');
      found.push({ name, bytes: await readFile(join(at, name)), flags });
    }
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ bytes, flags }) => ({ bytes, flags }));
}

/** Encodes letters beyond ASCII in UTF-16 and base64 (RFC 3501, 5.1.3). */
const encodedName = (folder: string): string =>
  folder
    .replaceAll('&', '&-')
    .replaceAll(
      /[^\x20-\x7e]+/g,
      (letters) =>
        `&${Buffer.from(letters, 'utf16le').swap16().toString('base64').replaceAll('=', '').replaceAll('/', ',')}-`,
    );

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Waits until the process accepts connections; false if it ends before that, or after 20 s. */
async function isAccepting(
  server: { exitCode: number | null; signalCode: string | null },
  port: number,
): Promise<boolean> {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    if (server.exitCode !== null || server.signalCode !== null) return false;
    if (await accepts(port)) return true;
    await pause(20);
  }
  return false;
}
