import { describe, expect, it } from 'vitest';
import type { Evaluation, Finding } from './findings.ts';
import type { ServerState } from './servers.ts';
import {
  afterPoll,
  afterMiss,
  type StoredRule,
  type StoredStatus,
  neverChecked,
  applyFindings,
  shownVerdict,
} from './settle.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 8, minute));
const finding = (state: ServerState, more: Partial<Finding> = {}): Finding => ({
  key: 'a',
  state,
  text: `It is ${state}.`,
  ...more,
});
const seen = (findings: Finding[]): ServerState[] => {
  const states: ServerState[] = [];
  let rules: StoredRule[] = [];
  for (const [n, one] of findings.entries()) {
    rules = applyFindings(rules, [one], at(n));
    states.push(rules[0]?.state ?? 'ok');
  }
  return states;
};

it('a message consists of full sentences, even if a finding ends without a full stop', () => {
  const texts = [
    'The root file system is 96 % full.',
    'At this pace it is full in 3 days.',
    'Replication 1 fails: no route',
  ];
  const findings = texts.map((text, n) => finding('critical', { key: String(n), text }));
  const evaluation: Evaluation = { findings, facts: [], figures: {}, summary: '', failure: null, notExamined: [] };
  const { message, headline } = afterPoll(neverChecked, evaluation, at(0));
  expect(message).toBe(`${texts.join(' ')}.`);
  expect(headline).toBe('The root file system is 96 % full (and 2 others)');
  findings.push(finding('critical', { key: 'last', text: 'Another one.' }));
  expect(afterPoll(neverChecked, evaluation, at(0)).message).toBe(`${texts.join(' ')}. And 1 more.`);
  expect(applyFindings([], [finding('warning', { text: 'It fails: no route' })], at(0))[0]?.text).toMatch(
    /^It fails: no route\. It counts once/,
  );
});

describe('a rule', () => {
  it.each<[what: string, found: Finding[], shown: ServerState[]]>([
    ['warns the second time', [finding('warning'), finding('warning')], ['ok', 'warning']],
    [
      'does not warn of an intermittent problem',
      [finding('warning'), finding('ok'), finding('warning')],
      ['ok', 'ok', 'ok'],
    ],
    ['is critical at once', [finding('critical')], ['critical']],
    ['is unknown at once', [finding('ok'), finding('unknown')], ['ok', 'unknown']],
    ['recovers at once', [finding('critical'), finding('ok')], ['critical', 'ok']],
    ['gets better at once', [finding('critical'), finding('warning')], ['critical', 'warning']],
    ['gets worse at once', [finding('warning'), finding('critical')], ['ok', 'critical']],
    [
      'starts counting again after an unknown state',
      [finding('warning'), finding('unknown'), finding('warning')],
      ['ok', 'unknown', 'ok'],
    ],
    [
      'waits for a second finding if required',
      [finding('critical', { needed: 2 }), finding('critical', { needed: 2 })],
      ['ok', 'critical'],
    ],
    [
      'has a lesser state meanwhile',
      [
        finding('critical', { needed: 2, meanwhile: 'warning' }),
        finding('critical', { needed: 2, meanwhile: 'warning' }),
      ],
      ['warning', 'critical'],
    ],
  ])('%s', (_, found, shown) => {
    expect(seen(found)).toEqual(shown);
  });

  it('says since when it holds, and that it does not count yet', () => {
    const first = applyFindings([], [finding('warning')], at(0));
    expect(first[0]).toMatchObject({
      state: 'ok',
      since: at(0).toISOString(),
      text: expect.stringContaining('2 checks in a row'),
    });
    const second = applyFindings(first, [finding('warning')], at(5));
    expect(second[0]).toMatchObject({ state: 'warning', since: at(5).toISOString(), text: 'It is warning.' });
    expect(applyFindings(second, [finding('warning')], at(9))[0]?.since).toBe(at(5).toISOString());
  });

  it('ends without a finding, and the worst come first', () => {
    const rules = applyFindings(
      [],
      [finding('ok', { key: 'a' }), finding('critical', { key: 'b' }), finding('unknown', { key: 'c' })],
      at(0),
    );
    expect(rules.map(({ key }) => key)).toEqual(['b', 'c', 'a']);
    expect(applyFindings(rules, [finding('ok')], at(1))).toHaveLength(1);
  });
});

const evaluationOf = (findings: Finding[], more: Partial<Evaluation> = {}): Evaluation => ({
  findings,
  facts: [{ key: 'n', label: 'N', value: 3, unit: 'count' }],
  figures: {},
  summary: 'all is well here',
  failure: null,
  notExamined: [],
  ...more,
});
const miss = { failure: 'netz' as const, message: 'pve1:8006 could not be reached.' };

describe('the status of a server', () => {
  const well = afterPoll(neverChecked, evaluationOf([finding('ok')]), at(0));

  it('equals its worst rule', () => {
    expect(well).toMatchObject({ state: 'ok', message: null, headline: 'all is well here', changes: [] });
    const bad = afterPoll(
      well,
      evaluationOf([finding('critical', { key: 'b' }), finding('unknown', { key: 'c' })]),
      at(5),
    );
    expect(bad).toMatchObject({ state: 'critical', message: 'It is critical.', headline: 'It is critical' });
    expect(bad.changes).toEqual([{ at: at(5).toISOString(), from: 'ok', to: 'critical', text: 'It is critical.' }]);
  });

  it('warns the second time even with hundreds of rules', () => {
    const many = Array.from({ length: 300 }, (_, n) => finding('ok', { key: `ok ${n}` }));
    const found = evaluationOf([...many, finding('warning', { key: 'last' })]);
    const first = afterPoll(neverChecked, found, at(0));
    expect(first).toMatchObject({ state: 'ok', rules: { length: 200 } });
    expect(afterPoll(first, found, at(5))).toMatchObject({ state: 'warning', message: 'It is warning.' });
  });

  it('is unknown after one miss, critical from the second on, and keeps the last facts', () => {
    const once = afterMiss(well, miss, at(5));
    expect(once).toMatchObject({
      state: 'unknown',
      failure: 'netz',
      checkedAt: at(5),
      lastOkAt: at(0),
      facts: well.facts,
      rules: well.rules,
    });
    const twice = afterMiss(once, miss, at(10));
    expect(twice).toMatchObject({ state: 'critical', failure: 'netz', message: miss.message, facts: well.facts });
    const back = afterPoll(twice, evaluationOf([finding('ok')]), at(15));
    expect(back).toMatchObject({ state: 'ok', failure: null, missed: 0 });
    expect(back.changes.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'critical ok',
      'unknown critical',
      'ok unknown',
    ]);
  });

  it('is unknown while the account lacks rights', () => {
    const failure = { class: 'rechte' as const, message: 'It sees nothing.' };
    let status = well;
    for (const minute of [5, 10, 15]) status = afterPoll(status, evaluationOf([], { failure }), at(minute));
    expect(status).toMatchObject({ state: 'unknown', failure: 'rechte', facts: well.facts, lastOkAt: at(0) });
  });

  it('keeps the last twenty changes', () => {
    let status: StoredStatus = well;
    for (let n = 1; n <= 50; n += 1)
      status = n % 2 ? afterMiss(status, miss, at(n)) : afterPoll(status, evaluationOf([]), at(n));
    expect(status.changes).toHaveLength(20);
    expect(status.changes[0]?.at).toBe(at(50).toISOString());
  });

  it('is unknown once stale, and while switched off', () => {
    const shown = (minutes: number, isActive = true) =>
      shownVerdict(well, { isActive, intervalMin: 5, now: new Date(at(0).getTime() + minutes * 60_000) });
    expect(shown(17)).toMatchObject({ state: 'ok' });
    expect(shown(18)).toMatchObject({
      state: 'unknown',
      message: expect.stringContaining('has not been checked since'),
    });
    expect(shown(0, false)).toMatchObject({ state: 'unknown', headline: 'Switched off' });
    const rests = { restsUntil: new Date(at(0).getTime() + 60 * 60_000), isActive: true, intervalMin: 5 };
    const seen = (minutes: number) => new Date(at(0).getTime() + minutes * 60_000);
    expect(shownVerdict(well, { ...rests, now: seen(59) })).toMatchObject({ state: 'ok' });
    expect(shownVerdict(well, { ...rests, now: seen(61) })).toMatchObject({ state: 'unknown' });
    expect(shownVerdict(neverChecked, { isActive: true, intervalMin: 5, now: at(0) })).toMatchObject({
      state: 'unknown',
    });
  });
});
