import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  type CheckOutcome,
  type JobOutcome,
  type LoadBound,
  type MailOutcome,
  openMetrics,
  type ReleaseTableTrouble,
  type SignInOutcome,
} from '@portal/platform/metrics';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (name: string): string => readFileSync(`${root}docs/operations/${name}`, 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
}
const { groups } = parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}
const dashboard = JSON.parse(read('dashboard.json')) as { panels: Panel[] };
const targets = dashboard.panels.flatMap(({ title, targets: own = [] }) => own.map((target) => ({ title, ...target })));

const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...targets.map(({ title, expr }) => ({ where: title, expr })),
];

/** Labels that a scrape adds. */
const labelsOfScrape = ['job', 'instance'];

const seriesOf = await everySeries();

describe.each(expressions)('$where', ({ expr }) => {
  it('uses only existing metrics, labels and values', () => {
    const used = [...expr.matchAll(/\b((?:portal|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)];
    if (!expr.startsWith('up{')) expect(used).not.toHaveLength(0);
    for (const [, name = '', matchers = ''] of used) {
      const labels = seriesOf.get(name);
      expect([name, labels]).toEqual([name, expect.any(Map)]);
      for (const [, label = '', operator, values = ''] of matchers.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)) {
        if (labelsOfScrape.includes(label)) continue;
        expect([name, [...(labels?.keys() ?? [])]]).toEqual([name, expect.arrayContaining([label])]);
        // Routes, kinds and jobs come and go; other labels have a closed list of values.
        if (operator === '!=' || ['route', 'status'].includes(label)) continue;
        expect([...(labels?.get(label) ?? [])]).toEqual(expect.arrayContaining(values.split('|')));
      }
    }
    const known = used.flatMap(([, name = '']) => [...(seriesOf.get(name)?.keys() ?? [])]);
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    expect([...known, ...labelsOfScrape]).toEqual(expect.arrayContaining(grouped));
    expect(expr.split('(')).toHaveLength(expr.split(')').length);
  });
});

describe('the alerts', () => {
  it('each have a unique name, and say what is wrong and what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^Portal[A-Z]\w+$/);
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      for (const text of [annotations.summary, annotations.action]) expect(text).toMatch(/^.{10,}\.$/);
    }
  });

  it('name only labels that their expression keeps', () => {
    for (const { expr, annotations } of rules) {
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
      const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name);
      expect(expr.startsWith('up{') ? labelsOfScrape : kept).toEqual(expect.arrayContaining(named));
    }
  });

  it('cover every metric of ours that shows trouble', () => {
    const all = rules.map(({ expr }) => expr).join('\n');
    const families = new Set(
      [...seriesOf.keys()]
        .filter((name) => name.startsWith('portal_'))
        .map((name) => name.replace(/_(bucket|count|sum)$/, '')),
    );
    // Subscribers of a cloud get a mail when it does not answer.
    families.delete('portal_checks_total');
    // Few matches are no trouble: a quiet day has none.
    families.delete('portal_tender_matches_total');
    expect([...families].filter((name) => !all.includes(name))).toEqual([]);
  });
});

it('renders every metric of ours', async () => {
  const source = readFileSync(`${root}packages/platform/src/metrics.ts`, 'utf8');
  const declared = [...source.matchAll(/name: '(portal_\w+)'/g)].map(([, name]) => name);
  const seen = [...seriesOf.keys()].map((name) => name.replace(/_(bucket|count|sum)$/, ''));
  expect(seen).toEqual(expect.arrayContaining(declared));
});

describe('the dashboard', () => {
  it('shows every metric of ours', () => {
    const all = targets.map(({ expr }) => expr).join('\n');
    const names = [...seriesOf.keys()].filter((name) => name.startsWith('portal_'));
    expect(names.filter((name) => !all.includes(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([]);
  });

  it('has panels that neither overlap nor leave the page', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x}/${y}`)]).toEqual([title, false]);
          taken.add(`${x}/${y}`);
        }
      }
    }
  });
});

/** The labels and label values of every series that a process can expose. */
async function everySeries(): Promise<Map<string, Map<string, Set<string>>>> {
  const metrics = openMetrics('api', {
    pool: () => ({ total: 1, idle: 1, waiting: 0, max: 10 }),
    queues: async () => ({ mail: { waiting: 0, active: 0, delayed: 0, failed: 0 } }),
  });
  const each = <Word extends string>(words: Record<Word, true>): Word[] => Object.keys(words) as Word[];
  metrics.observeRequest('GET', '/users', 200, 0.1);
  for (const outcome of each<JobOutcome>({
    succeeded: true,
    failed: true,
    retried: true,
    released: true,
    skipped: true,
  }))
    metrics.countJob('mails.deliver', outcome, 1);
  for (const outcome of each<MailOutcome>({
    sent: true,
    failed: true,
    postponed: true,
    skipped: true,
    not_configured: true,
    quota: true,
  }))
    metrics.countMail('accounts/welcome', outcome);
  for (const outcome of each<SignInOutcome>({
    succeeded: true,
    failed: true,
    throttled: true,
    directory_unreachable: true,
  }))
    metrics.countSignIn(outcome);
  for (const bound of each<LoadBound>({
    account: true,
    address: true,
    process: true,
    watch: true,
    connections: true,
    pipeline: true,
    reader: true,
  }))
    metrics.countLoad(bound);
  for (const trouble of each<ReleaseTableTrouble>({ outdated: true, unreadable: true }))
    metrics.setReleaseTableTrouble(trouble, true);
  metrics.countCheck('ok' satisfies CheckOutcome);
  metrics.countStoreFault('unreachable');
  metrics.countPoll('backup', 'read');
  for (const outcome of ['failed', 'known']) metrics.countInvoice('xrechnung', outcome);
  metrics.countTenderNotices('ted', 'added', 1);
  const { body } = await metrics.render();
  const found = new Map<string, Map<string, Set<string>>>();
  for (const [, name = '', labels = ''] of body.matchAll(/^(\w+)(?:\{([^}]*)\})? /gm)) {
    const known = found.get(name) ?? new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value));
    found.set(name, known);
  }
  return found;
}
