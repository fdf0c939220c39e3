import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { SECOND } from '@portal/domain/time';
import { pngIcon } from '../icons.ts';
import { serverForm } from '../monitoring.ts';
import { startCloudServer } from '../servers/cloud-server.ts';
import { startVirtualizationServer } from '../servers/products/virtualization-server.ts';
import { countGrowth, growthOf, type Point } from './growth.ts';
import type { HeldState } from './held-state.ts';
import { type CallStats, startStack } from './stack.ts';

const probe = ['--import', new URL('held-state.ts', import.meta.url).href];
const MiB = 1024 * 1024;
/** The share of one core that keeps the API busy. */
const targetLoad = 0.3;

/** Lists of every area. */
const reads = [
  '/auth/me',
  '/reminders',
  '/dashboard/tabs',
  '/favorites',
  '/modules/active',
  '/module-grants/matrix',
  '/users',
  '/groups',
  '/tenders?limit=20',
  '/virtualization/status',
  '/cloud-status/instances',
  '/invoices',
  '/accounting/merchandise/accounts',
  '/calendar/sources',
  '/audit-log',
  '/health/ready',
  '/openapi.json',
];

export interface Growth {
  /** Mean and growth of memory, by process; `held` is memory that a garbage collection cannot free. */
  memory: Record<string, { meanMiB: number; perHour: number; error: number }>;
  /** Counts at the beginning and at the end, and their growth. */
  handles: Record<string, { first: number; last: number; more: number }>;
}

/** Runs API and worker at a part of their capacity for a long time: no call fails and no handle leaks. Also measures memory growth. */
export async function liveADay(options: {
  minutes: number;
  warmUpMinutes: number;
  /** Pause between two rounds of work, 10 by default; with 0.4 an hour has as many rounds as a day by default. */
  workEverySec?: number;
  /** Allowed growth of a handle count: within a minute a pool may not have opened all its connections. */
  pooled?: number;
  say: (line: string) => void;
}): Promise<Growth & { stats: CallStats; load: number; violations: string[] }> {
  const stack = await startStack({ nodeOptions: probe });
  const [cloud, cluster] = await Promise.all([startCloudServer(), startVirtualizationServer()]);
  const owner = new Client({ connectionString: stack.ownerUrl });
  try {
    await owner.connect();
    const violations: string[] = [];
    const dataDir = stack.env['DATA_DIR'] ?? '';
    const memory: Record<string, Point[]> = {};
    const handles: Record<string, Point[]> = {};
    const loads: number[] = [];
    const processes = { api: stack.api().child, worker: stack.workers()[0]?.child };
    await arrange();

    let thinkMs = 30;
    const calling = await stack.callers(16, { reads, thinkMs: () => thinkMs });
    const working = new AbortController();
    const work = workUntil(working.signal);
    const wholeMs = (options.warmUpMinutes + options.minutes) * 60_000;
    const everyMs = Math.min(60_000, (options.minutes * 60_000) / 30);
    const startedAt = performance.now();
    let before = { at: startedAt, cpuUs: (await stateOf(processes.api)).cpuUs };
    for (let n = 0; performance.now() - startedAt < wholeMs; n += 1) {
      await pause(everyMs);
      const { cpuUs } = await sample();
      const at = performance.now();
      const load = (cpuUs - before.cpuUs) / 1_000 / (at - before.at);
      before = { at, cpuUs };
      loads.push(load);
      // Moves halfway to the ideal pause, because other programs on the machine come and go.
      thinkMs = Math.min(1_000, Math.max(1, thinkMs * (1 + (load / targetLoad - 1) / 2)));
      if (n % 30 === 0) options.say(`${(load * 100).toFixed(0)} % busy; ${inShort(memory)}; ${inShort(handles)}`);
    }
    working.abort();
    await Promise.all([calling.stop(), work]);

    const warmAt = startedAt + options.warmUpMinutes * 60_000;
    const warm = (points: Point[]) => points.filter(({ at }) => at >= warmAt);
    const growth: Growth = { memory: {}, handles: {} };
    for (const [name, points] of Object.entries(memory)) {
      const { perHour, error } = growthOf(warm(points));
      const meanMiB = warm(points).reduce((sum, { value }) => sum + value, 0) / warm(points).length;
      growth.memory[name] = { meanMiB, perHour, error };
    }
    for (const [name, points] of Object.entries(handles)) {
      const [first, last] = [warm(points).at(0)?.value ?? 0, points.at(-1)?.value ?? 0];
      growth.handles[name] = { first, last, more: countGrowth(warm(points)) };
      if (growth.handles[name].more > (options.pooled ?? 0))
        violations.push(`${name}: the count never returns to its level at the beginning`);
    }
    const bad = Object.entries(calling.stats.statuses).filter(([status]) => !['200', '201', '204'].includes(status));
    for (const [status, count] of bad) violations.push(`${count} answers with ${status}`);
    return {
      ...growth,
      stats: calling.stats,
      load: loads.reduce((sum, load) => sum + load, 0) / loads.length,
      violations,
    };

    /** Adds the cloud and the server that the worker checks all the time. */
    async function arrange(): Promise<void> {
      // Otherwise the first stored file creates it.
      await mkdir(dataDir, { recursive: true });
      const answers = [
        await stack.ask('/cloud-status/instances', { customerName: 'Soak', statusUrl: cloud.origin }),
        await stack.ask('/virtualization/servers', serverForm(cluster)),
      ];
      for (const { status, body } of answers) if (status !== 201) violations.push(`arranging: ${status} ${body}`);
    }

    /** Repeats the same mails, checks, polls and uploads. */
    async function workUntil(signal: AbortSignal): Promise<void> {
      const people = await stack.makePeople(3);
      for (let round = 0; !signal.aborted; round += 1) {
        await stack.remind(people);
        const answers = await Promise.all([
          stack.ask('/cloud-status/check', undefined, { method: 'POST' }),
          stack.ask('/virtualization/poll', undefined, { method: 'POST' }),
        ]);
        // The API refuses a check or poll too soon after the last one.
        for (const { status, body } of answers)
          if (![200, 202, 409, 429].includes(status)) violations.push(`work: ${status} ${body}`);
        await picture(round);
        await pause((options.workEverySec ?? 10) * SECOND, undefined, { signal }).catch(() => undefined);
      }
    }

    async function picture(round: number): Promise<void> {
      const form = new FormData();
      form.append('image', new Blob([new Uint8Array(pngIcon({ side: 64, shade: round % 250 }))]), 'soak.png');
      const headers = { cookie: stack.cookie };
      const stored = await fetch(`${stack.api().url}/dashboard/images`, { method: 'POST', headers, body: form });
      if (stored.status !== 201) return void violations.push(`a picture: ${stored.status} ${await stored.text()}`);
      const { id } = (await stored.json()) as { id: string };
      const removed = await stack.ask(`/dashboard/images/${id}`, undefined, { method: 'DELETE' });
      if (removed.status !== 204) violations.push(`deleting a picture: ${removed.status} ${removed.body}`);
    }

    async function sample(): Promise<HeldState> {
      const at = performance.now();
      const note = (series: Record<string, Point[]>, name: string, value: number) =>
        void (series[name] ??= []).push({ at, value });
      const states = { api: await stateOf(processes.api), worker: await stateOf(processes.worker) };
      for (const [name, { held, resident, resources }] of Object.entries(states)) {
        note(memory, `${name} held`, held / MiB);
        note(memory, `${name} resident`, resident / MiB);
        note(handles, `${name} resources`, resources);
        const pid = processes[name as keyof typeof processes]?.pid;
        note(handles, `${name} descriptors`, (await readdir(`/proc/${pid}/fd`)).length);
      }
      const { rows } = await owner.query<{ open: number }>(
        "select count(*)::int as open from pg_stat_activity where application_name like 'portal-%'",
      );
      note(handles, 'connections', rows[0]?.open ?? 0);
      const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
      note(handles, 'files', files.filter((entry) => entry.isFile()).length);
      return states.api;
    }
  } finally {
    await owner.end();
    await stack.close();
    await Promise.all([cloud.stop(), cluster.switchOff()]);
  }
}

async function stateOf(child: ChildProcess | undefined): Promise<HeldState> {
  if (!child) throw new Error('there is no such process');
  const answer = once(child, 'message', { signal: AbortSignal.timeout(60_000) });
  child.send('state');
  const [state] = (await answer) as [HeldState];
  return state;
}

const inShort = (series: Record<string, Point[]>): string =>
  Object.entries(series)
    .map(([name, points]) => `${name} ${points.at(-1)?.value.toFixed(0)}`)
    .join(', ');
