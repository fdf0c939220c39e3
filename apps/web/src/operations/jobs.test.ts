import { afterEach, describe, expect, it } from 'vitest';
import type { Job } from '@portal/client/interface';
import { language } from '../language.ts';
import { jobState, queuesOf, workerState } from './job-state.ts';
import { durationText, jobName, scheduleText } from './job-words.ts';

const nowMs = Date.parse('2026-11-26T09:00:00Z');
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
const job = (fields: Partial<Job> = {}): Job => ({
  queue: 'mail',
  name: 'mails.deliver',
  schedule: null,
  lastRunAt: at(-10),
  lastState: 'succeeded',
  lastDurationMs: 5,
  nextRunAt: null,
  waiting: 0,
  active: 0,
  failed: 0,
  lastFailure: null,
  ...fields,
});

const before = language.value;
afterEach(() => {
  language.value = before;
});

describe('a kind of job', () => {
  it.each<[Partial<Job>, string]>([
    [{}, 'fine'],
    [{ lastRunAt: null, lastState: null }, 'never'],
    [{ waiting: 2 }, 'waiting'],
    [{ waiting: 2, active: 1 }, 'active'],
    [{ active: 1, failed: 1 }, 'failedBefore'],
    [{ nextRunAt: at(-30) }, 'fine'],
    [{ nextRunAt: at(-90) }, 'overdue'],
    [{ nextRunAt: at(-90), lastState: 'failed' }, 'failed'],
  ])('with %j is %s', (fields, expected) => expect(jobState(job(fields), nowMs)).toBe(expected));
});

describe('all jobs', () => {
  it('stand still if each frequent one is late', () => {
    const late = job({ schedule: 'every 10 s', nextRunAt: at(-90) });
    const daily = job({ schedule: '15 3 * * * (Europe/Berlin)', nextRunAt: at(9_000) });
    expect(workerState([late, daily, job()], nowMs)).toBe('standing');
    expect(workerState([late, { ...late, nextRunAt: at(5) }], nowMs)).toBe('working');
    expect(workerState([job(), daily], nowMs)).toBe('unknown');
  });

  it('are summed by queue', () => {
    const jobs = [job({ waiting: 1, failed: 2 }), job({ queue: 'icons' }), job({ waiting: 4, active: 1 })];
    expect(queuesOf(jobs)).toEqual([
      { queue: 'mail', waiting: 5, active: 1, failed: 2 },
      { queue: 'icons', waiting: 0, active: 0, failed: 0 },
    ]);
  });
});

describe('the words for a job', () => {
  it('tell the schedule and the duration', () => {
    language.value = 'de';
    expect(scheduleText('every 10 s')).toBe('alle 10 Sekunden');
    expect(scheduleText('every 60 s')).toBe('jede Minute');
    expect(scheduleText('every 300 s; 15 3 * * * (Europe/Berlin)')).toBe('alle 5 Minuten, täglich um 03:15');
    expect(scheduleText('0 0 1 * * (UTC)')).toBe('0 0 1 * * (UTC)');
    expect([12, 1_449, 90_000].map(durationText)).toEqual(['12 ms', '1,4 s', '1,5 min']);
  });

  it('fall back to the name of a later release', () => {
    expect(jobName('mails.deliver')).not.toBe('mails.deliver');
    expect(jobName('constructor')).toBe('constructor');
  });
});
