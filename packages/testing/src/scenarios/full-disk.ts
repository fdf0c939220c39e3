import { chmod, readdir, rename, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { newId } from '@portal/domain/ids';
import { openFolderStore } from '@portal/platform/files/folder-store';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { areas } from '@portal/usecases/areas';
import { limitFileSize } from '../file-size-limit.ts';
import { tinyPng } from '../pictures.ts';
import { startStack, waitUntil } from './stack.ts';

/** Drops the capability by which root ignores the permissions of folders. */
const withoutOverride = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override', '--'] : [];

type Stack = Awaited<ReturnType<typeof startStack>>;

interface Call {
  method: string;
  path: string;
  body?: object;
  /** The field of an upload. */
  picture?: string;
}

async function send(stack: Stack, { method, path, body, picture }: Call) {
  const form = new FormData();
  if (picture !== undefined) form.set(picture, new Blob([tinyPng]), 'a.png');
  const answer = await fetch(stack.api().url + path, {
    method,
    headers: { cookie: stack.cookie, ...(body && { 'content-type': 'application/json' }) },
    ...(picture === undefined ? body && { body: JSON.stringify(body) } : { body: form }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.text() };
}

/** Calls that succeed while there is space: uploads of four kinds, writes of rows, and reads. */
async function callsOf(stack: Stack) {
  const create = async (path: string, body: object) => {
    const answer = await send(stack, { method: 'POST', path, body });
    return (JSON.parse(answer.body) as { id: string }).id;
  };
  const tabId = await create('/dashboard/tabs', { name: 'Room' });
  const widgetId = await create('/dashboard/widgets', { tabId, type: 'favorites', config: {} });
  const favoriteId = await create('/favorites', { widgetId, title: 'Wiki', url: 'https://wiki.example.org' });
  const cloudId = await create('/cloud-status/instances', { customerName: 'Room', statusUrl: 'http://127.0.0.1:1' });
  const upload = (path: string, picture: string): Call => ({ method: 'POST', path, picture });
  return {
    uploads: [
      upload('/users/me/avatar', 'file'),
      upload('/dashboard/images', 'image'),
      upload(`/favorites/${favoriteId}/icon`, 'icon'),
      upload(`/cloud-status/instances/${cloudId}/logo`, 'logo'),
    ],
    writes: [
      { method: 'POST', path: '/reminders', body: { title: 'Room', dueAt: '2036-01-08T08:00:00.000Z' } },
      { method: 'PATCH', path: `/dashboard/tabs/${tabId}`, body: { name: 'More' } },
      { method: 'PATCH', path: '/users/me', body: { accentColor: '#123456' } },
    ] satisfies Call[],
    reads: ['/auth/me', '/reminders', '/dashboard/images', '/users/me/avatar', `/favorites/${favoriteId}/icon`].map(
      (path): Call => ({ method: 'GET', path }),
    ),
  };
}

/** Every file below a folder, including partial ones. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Sweeps after making all files old. Returns the number of removed files. */
async function sweptFiles(stack: Stack, folder: string): Promise<number> {
  const old = new Date(Date.now() - 86_400_000);
  for (const file of await filesBelow(folder)) await utimes(file, old, old);
  const files = openFolderStore(stack.env['DATA_DIR'] ?? '');
  const owners = areas.flatMap((area) => area.files ?? []);
  const system = stack.runtime.system({ requestId: newId(), ip: null, userAgent: null });
  return sweepOrphanFiles({ ...system, files }, owners, new AbortController().signal);
}

const fullTables = ['reminders', 'dashboard_images', 'audit_entries'];

/** Ways to run out of space: each causes the shortage and returns a function that ends it. */
function shortages(stack: Stack, folder: string, owner: Client): Record<string, () => Promise<() => Promise<unknown>>> {
  const allow = async (mode: number) => {
    await chmod(folder, mode);
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), mode);
  };
  const database = new URL(stack.ownerUrl).pathname.slice(1);
  const setReadOnly = async (isReadOnly: boolean) => {
    await owner.query(`alter database ${database} set default_transaction_read_only = ${isReadOnly}`);
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await waitUntil(async () => (await stack.ask('/auth/me')).status === 200, 10_000);
  };
  /** Empties these tables and returns the paths of their files. */
  const emptyTables = async () => {
    await owner.query(`truncate ${fullTables.join(', ')} cascade; checkpoint`);
    const { rows } = await owner.query<{ place: string }>(
      `select current_setting('data_directory') || '/' || pg_relation_filepath(name::regclass) as place from unnest($1::text[]) name`,
      [fullTables],
    );
    return rows.map(({ place }) => place);
  };
  return {
    'no space for files': () => limitFileSize(stack.api().child.pid),
    'read-only files': async () => {
      await allow(0o500);
      return () => allow(0o700);
    },
    'a read-only database': async () => {
      await setReadOnly(true);
      return async () => {
        await owner.query('set transaction_read_only = off');
        await setReadOnly(false);
      };
    },
    'no space in the database': async () => {
      const places = await emptyTables();
      // Removes the files of the deleted rows.
      await sweptFiles(stack, folder);
      for (const place of places) {
        await rename(place, `${place}.aside`);
        await symlink('/dev/full', place);
      }
      return async () => {
        for (const place of places) await rename(`${place}.aside`, place);
        await emptyTables();
      };
    },
  };
}

/** Causes every shortage of space and ends it: calls that need space are refused cleanly, all others succeed, and no file is left over. */
export async function exhaustSpace({ rounds }: { rounds: number }): Promise<{ refused: number; violations: string[] }> {
  const stack = await startStack({ under: withoutOverride });
  const owner = new Client({ connectionString: stack.ownerUrl });
  try {
    await owner.connect();
    const violations: string[] = [];
    let refused = 0;
    const folder = join(stack.env['DATA_DIR'] ?? '', 'files');
    const { uploads, writes, reads } = await callsOf(stack);
    const expectAll = async (
      what: string,
      calls: Call[],
      isExpected: (answer: Awaited<ReturnType<typeof send>>) => boolean,
    ) => {
      for (const call of calls) {
        const answer = await send(stack, call);
        if (answer.status === 503) refused += 1;
        if (!isExpected(answer))
          violations.push(`${what}: ${call.method} ${call.path} answered ${answer.status} ${answer.body}`);
      }
    };
    const isDone = ({ status }: { status: number }) => status >= 200 && status < 300;
    const isRefused = ({ status, retryAfter }: { status: number; retryAfter: string | null }) =>
      status === 503 && retryAfter !== null;

    await expectAll('before', [...uploads, ...writes, ...reads], isDone);
    for (let round = 0; round < rounds; round += 1) {
      for (const [what, begin] of Object.entries(shortages(stack, folder, owner))) {
        const isOfFiles = what.includes('files');
        const isFull = what === 'no space in the database';
        const end = await begin();
        const before = await filesBelow(folder);
        try {
          // In a full database only calls that need a new page of these tables fail.
          const blocked = isFull ? [uploads[1], uploads[3], writes[0]].filter((call) => call !== undefined) : uploads;
          await expectAll(what, blocked, isRefused);
          if (!isFull) await expectAll(what, writes, isOfFiles ? isDone : isRefused);
          await expectAll(what, reads, isDone);
          if ((await filesBelow(folder)).toSorted().join() !== before.toSorted().join())
            violations.push(`${what}: the files changed`);
        } finally {
          await end();
        }
        await expectAll(`after ${what}`, [...uploads, ...writes, ...reads], isDone);
        const swept = await sweptFiles(stack, folder);
        if (swept > 0) violations.push(`after ${what}: the sweep finds ${swept} files`);
      }
    }
    for (const { child } of [stack.api(), ...stack.workers()])
      if (child.exitCode !== null || child.signalCode !== null) violations.push('a process ended');
    return { refused, violations };
  } finally {
    await owner.end();
    await stack.close();
  }
}
