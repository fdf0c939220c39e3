import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@portal/domain/ids';
import { pngPicture } from '../icons.ts';
import { serverForm } from '../monitoring.ts';
import { startVirtualizationServer } from '../servers/products/virtualization-server.ts';
import { type Answer, type Call, type Calls } from './machines-calls.ts';
import { adminPassword, type House } from './machines-house.ts';

/** Beyond these, callers delete the oldest. */
const maxPictures = 15;
const maxReminders = 40;
/** The last of the mails is sent by a sweep. */
const settleMs = 120_000;
const tenants = 4;
const reads = [
  '/auth/me',
  '/reminders',
  '/dashboard/tabs',
  '/modules/active',
  '/virtualization/status',
  '/users?limit=20',
];

/** An administrator of a tenant with one server to poll. */
interface Account {
  username: string;
  password: string;
  cookie: string;
  pictures: Map<string, string>;
  reminders: Map<string, string>;
}

/** What the API has confirmed, and what it may have done although the caller got no confirmation. */
interface Ledger {
  /** Deleted pictures with their accounts. */
  deletedPictures: Map<string, Account>;
  deletedReminders: Set<string>;
  /** Reminders whose last call was not confirmed. */
  unsureReminders: Set<string>;
  openSessions: Set<string>;
  endedSessions: Set<string>;
  signInsSent: number;
  accounts: Map<string, Account>;
  runs: Map<string, Account>;
  /** What identifies a confirmed mail: the address of a welcome mail, the title of a reminder. */
  mails: Set<string>;
}

export interface Load {
  /** Sends no more calls, and waits for those under way. */
  stop(): Promise<void>;
  /** Compares what the service has with what it confirmed. */
  check(): Promise<Checked>;
}

export interface Checked {
  /** Confirmed and found, by kind. */
  confirmed: Record<string, number>;
  /** Mails that came again in the one gap that SMTP leaves. */
  repeatedMails: number;
  violations: string[];
}

/** Starts callers that read, write, upload, download, sign in, poll and cause mails: some dozens of calls a second. */
export async function startLoad(house: House, calls: Calls): Promise<Load> {
  const virtualization = await startVirtualizationServer();
  const ledger: Ledger = {
    deletedPictures: new Map(),
    deletedReminders: new Set(),
    unsureReminders: new Set(),
    openSessions: new Set(),
    endedSessions: new Set(),
    signInsSent: 0,
    accounts: new Map(),
    runs: new Map(),
    mails: new Set(),
  };
  const accounts = await arrange(calls, serverForm(virtualization));
  const [first] = accounts;
  if (!first) throw new Error('there is no account');

  async function read(account: Account, n: number): Promise<void> {
    await calls.ask(reads[n % reads.length] ?? '', { cookie: account.cookie, expected: [200] });
  }

  async function write({ cookie, reminders }: Account): Promise<void> {
    const [oldest] = reminders.size < maxReminders ? [] : reminders;
    if (oldest) {
      const [title, id] = oldest;
      reminders.delete(title);
      ledger.unsureReminders.add(title);
      if (!(await calls.ask(`/reminders/${id}`, { method: 'DELETE', cookie, expected: [204] }))) return;
      ledger.unsureReminders.delete(title);
      ledger.deletedReminders.add(title);
      return;
    }
    await remind({ cookie, reminders }, { dueAt: '2036-01-08T08:00:00.000Z' });
  }

  async function remind(
    { cookie, reminders }: Pick<Account, 'cookie' | 'reminders'>,
    more: { dueAt: string; emailEnabled?: boolean },
  ): Promise<string | null> {
    const title = `soak-${newId()}`;
    ledger.unsureReminders.add(title);
    const answer = await calls.ask('/reminders', { cookie, json: { title, ...more }, expected: [201] });
    if (!answer) return null;
    ledger.unsureReminders.delete(title);
    reminders.set(title, idOf(answer));
    return title;
  }

  async function exchangePictures(account: Account): Promise<void> {
    const { cookie, pictures } = account;
    const bytes = picture();
    const form = new FormData();
    form.append('image', new Blob([new Uint8Array(bytes)]), 'soak.png');
    const stored = await calls.ask('/dashboard/images', { cookie, form, expected: [201] });
    if (stored) pictures.set(idOf(stored), sha256(bytes));
    else await forgetUnconfirmed(account);
    const ids = [...pictures.keys()];
    const some = ids[Math.floor(Math.random() * ids.length)];
    if (some !== undefined) {
      const file = await calls.ask(`/dashboard/images/${some}`, { cookie, expected: [200] });
      if (file && sha256(file.body) !== pictures.get(some)) calls.violations.add('a picture has other bytes');
    }
    const [oldest] = ids;
    if (ids.length < maxPictures || oldest === undefined) return;
    pictures.delete(oldest);
    const deleted = await calls.ask(`/dashboard/images/${oldest}`, { method: 'DELETE', cookie, expected: [204] });
    if (deleted) ledger.deletedPictures.set(oldest, account);
  }

  /** Removes pictures that were stored without a confirmation, which would fill the account. */
  async function forgetUnconfirmed({ cookie, pictures }: Account): Promise<void> {
    const answer = await calls.ask('/dashboard/images', { cookie, expected: [200] });
    if (!answer) return;
    for (const { id } of JSON.parse(answer.body.toString()) as { id: string }[])
      if (!pictures.has(id))
        await calls.ask(`/dashboard/images/${id}`, { method: 'DELETE', cookie, expected: [204, 404] });
  }

  async function signInAndOut({ username, password }: Account, n: number): Promise<void> {
    ledger.signInsSent += 1;
    const answer = await calls.ask('/auth/login', { json: { username, password }, expected: [200] });
    if (!answer) return;
    const cookie = cookieOf(answer);
    if (n % 2 === 0) return void ledger.openSessions.add(cookie);
    const ended = await calls.ask('/auth/logout', { method: 'POST', cookie, expected: [204] });
    if (ended) ledger.endedSessions.add(cookie);
  }

  async function poll(account: Account): Promise<void> {
    const answer = await calls.ask('/virtualization/poll', {
      method: 'POST',
      cookie: account.cookie,
      expected: [202, 429],
    });
    if (answer?.status === 202)
      ledger.runs.set((JSON.parse(answer.body.toString()) as { runId: string }).runId, account);
  }

  async function causeMail(account: Account, n: number): Promise<void> {
    // A person gets at most a hundred reminders a day by mail.
    if (n % 10 === 0) {
      const title = await remind(account, { dueAt: new Date(Date.now() + 3_000).toISOString(), emailEnabled: true });
      if (title !== null) ledger.mails.add(title);
      return;
    }
    const username = `soak-${newId()}`;
    const email = `${username}@example.org`;
    const json = { username, email, sendWelcomeMail: true };
    const answer = await calls.ask('/users', { cookie: account.cookie, json, expected: [201] });
    if (!answer) return;
    ledger.accounts.set(idOf(answer), account);
    ledger.mails.add(username);
  }

  const over = new AbortController();
  async function every(ms: number, act: (account: Account, n: number) => Promise<void>, from = 0): Promise<void> {
    for (let n = 0; !over.signal.aborted; n += 1) {
      await act(accounts[(from + n) % accounts.length] ?? (first as Account), n);
      await pause(ms, undefined, { signal: over.signal }).catch(() => undefined);
    }
  }
  const callers = [
    every(200, read),
    every(200, read, 1),
    every(200, read, 2),
    every(250, write, 0),
    every(250, write, 2),
    every(500, exchangePictures),
    every(700, signInAndOut),
    every(2_700, poll),
    every(700, causeMail, 3),
  ];

  return {
    async stop() {
      over.abort();
      await Promise.all(callers);
    },
    check: async () => {
      const checked = await compare(ledger, accounts, { house, calls });
      await virtualization.switchOff();
      return checked;
    },
  };
}

/** Signs in as the first administrator and makes tenants, each with an administrator and a server to poll. */
async function arrange(calls: Calls, server: object): Promise<Account[]> {
  const must = async (path: string, call: Call): Promise<Answer> => {
    const answer = await calls.ask(path, call);
    if (!answer) throw new Error(`${path}: ${[...calls.violations].join('; ') || 'unavailable'}`);
    return answer;
  };
  const signIn = async (username: string, password: string) =>
    cookieOf(await must('/auth/login', { json: { username, password }, expected: [200] }));
  const seeded = await signIn('admin', adminPassword);
  const newPassword = `${adminPassword}, changed`;
  const changed = await must('/auth/change-password', {
    cookie: seeded,
    json: { currentPassword: adminPassword, newPassword },
    expected: [204],
  });
  const cookie = cookieOf(changed);
  const accounts: Account[] = [];
  for (let n = 0; n < tenants; n += 1) {
    const tenantId = idOf(await must('/tenants', { cookie, json: { name: `Tenant ${n}` }, expected: [201] }));
    const username = `administrator-${n}`;
    const password = `password of ${tenantId}`;
    const json = {
      username,
      email: `${username}@example.org`,
      role: 'ADMIN',
      tenantId,
      password,
      mustChangePassword: false,
    };
    await must('/users', { cookie, json, expected: [201] });
    const own = await signIn(username, password);
    await must('/virtualization/servers', { cookie: own, json: server, expected: [201] });
    accounts.push({ username, password, cookie: own, pictures: new Map(), reminders: new Map() });
  }
  return accounts;
}

async function compare(
  ledger: Ledger,
  accounts: Account[],
  { house, calls }: { house: House; calls: Calls },
): Promise<Checked> {
  const violations: string[] = [];
  const copies = (key: string) => arrived().get(key) ?? [];
  const arrived = (): Map<string, House['mails']> =>
    Map.groupBy(house.mails, ({ mail }) => keyOf(`${mail.envelopeTo.join()} ${mail.subject} ${mail.text}`));
  await until(async () => [...ledger.mails].every((key) => arrived().has(key)), settleMs);
  const mails = arrived();
  const lostMails = [...ledger.mails].filter((key) => !mails.has(key)).length;
  if (lostMails > 0) violations.push(`${lostMails} mails never arrived`);
  let repeatedMails = 0;
  for (const key of mails.keys()) {
    const all = copies(key);
    if (new Set(all.map(({ mail }) => mail.messageId)).size > 1) violations.push('a mail was made twice');
    if (all.length < 2) continue;
    repeatedMails += all.length - 1;
    const [{ at }] = all as [House['mails'][0]];
    const isInGap = calls.steps.some(
      ({ fromMs, toMs, disturbance }) => disturbance.repeatsMails && fromMs <= at && at <= toMs,
    );
    if (!isInGap) violations.push('a mail came twice although nothing had died');
  }

  const ask = (path: string, cookie: string, expected: number[], method = 'GET') =>
    calls.ask(path, { method, cookie, expected });
  const stateOf = async (id: string, { cookie }: Account) => {
    const answer = await ask(`/runs/${id}`, cookie, [200]);
    return answer && (JSON.parse(answer.body.toString()) as { state: string }).state;
  };
  const states = new Map<string, string | null>();
  await until(async () => {
    await inTurns([...ledger.runs], async ([id, account]) => {
      if (!isEnded(states.get(id))) states.set(id, await stateOf(id, account));
    });
    return [...states.values()].every(isEnded);
  }, settleMs);
  const bad = [...states.values()].filter((state) => state !== 'succeeded');
  if (bad.length > 0) violations.push(`polls are ${bad.join(', ')}`);

  let signIns = 0;
  for (const account of accounts) {
    const { cookie, pictures, reminders } = account;
    const titles = await titlesOf(cookie);
    const kept = new Set(titles);
    if (kept.size < titles.length) violations.push(`${titles.length - kept.size} reminders are there twice`);
    const lost = [...reminders.keys()].filter((title) => !kept.has(title)).length;
    if (lost > 0) violations.push(`${lost} reminders are lost`);
    const back = titles.filter((title) => ledger.deletedReminders.has(title)).length;
    if (back > 0) violations.push(`${back} deleted reminders are there`);
    const made = titles.filter((title) => !reminders.has(title) && !ledger.unsureReminders.has(title)).length;
    if (made > back) violations.push(`${made - back} reminders are there that nobody made`);
    await inTurns([...pictures], async ([id, digest]) => {
      const file = await ask(`/dashboard/images/${id}`, cookie, [200]);
      if (!file) violations.push('a picture is lost');
      else if (sha256(file.body) !== digest) violations.push('a picture has other bytes');
    });
    const list = await ask('/auth/sessions', cookie, [200]);
    signIns += (JSON.parse(list?.body.toString() ?? '[]') as unknown[]).length - 1;
  }
  if (signIns + ledger.endedSessions.size > ledger.signInsSent) violations.push('a sign-in made two sessions');

  const found = async (what: string, entries: Iterable<[string, string]>, expected: number[]) =>
    inTurns([...entries], async ([path, cookie]) => {
      if (!(await ask(path, cookie, expected))) violations.push(what);
    });
  await found('a session is lost', cookiesOf(ledger.openSessions), [200]);
  await found('an ended session is open', cookiesOf(ledger.endedSessions), [401]);
  await found('an account is lost', pathsOf('/users/', ledger.accounts), [200]);
  await found('a deleted picture is there', pathsOf('/dashboard/images/', ledger.deletedPictures), [404]);

  return {
    confirmed: {
      reminders: accounts.reduce((sum, { reminders }) => sum + reminders.size, ledger.deletedReminders.size),
      pictures: accounts.reduce((sum, { pictures }) => sum + pictures.size, ledger.deletedPictures.size),
      'sign-ins': ledger.openSessions.size + ledger.endedSessions.size,
      accounts: ledger.accounts.size,
      polls: ledger.runs.size,
      mails: ledger.mails.size,
    },
    repeatedMails,
    violations: [...new Set(violations)],
  };

  async function titlesOf(cookie: string): Promise<string[]> {
    const all = await Promise.all(['open', 'done'].map((state) => ask(`/reminders?state=${state}`, cookie, [200])));
    return all.flatMap((answer) =>
      (JSON.parse(answer?.body.toString() ?? '[]') as { title: string }[]).map(({ title }) => title),
    );
  }
}

const isEnded = (state: string | null | undefined) => state === 'succeeded' || state === 'failed';
const idOf = ({ body }: Answer): string => (JSON.parse(body.toString()) as { id: string }).id;
const cookieOf = ({ headers }: Answer): string => (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
const keyOf = (text: string): string => /soak-[0-9a-f-]{36}/.exec(text)?.[0] ?? text;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const cookiesOf = (cookies: Iterable<string>) => [...cookies].map((cookie): [string, string] => ['/auth/me', cookie]);
const pathsOf = (path: string, ids: Map<string, Account>) =>
  [...ids].map(([id, { cookie }]): [string, string] => [path + id, cookie]);

/** A picture that compression cannot make smaller: about 60 KB. */
function picture(): Buffer {
  const noise = randomBytes(160 * 120 * 3);
  return pngPicture(160, 120, (x, y) => [...noise.subarray((y * 160 + x) * 3, (y * 160 + x) * 3 + 3)]);
}

/** Treats some at a time. */
async function inTurns<T>(all: readonly T[], treat: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const one of left) await treat(one);
    }),
  );
}

async function until(condition: () => Promise<boolean>, maxMs: number): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < maxMs; await pause(250))
    if (await condition()) return;
}
