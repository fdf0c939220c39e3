import { describe, expect, it } from 'vitest';
import { runMachines, shortRun } from '@portal/testing/scenarios/machines';
import { serviceBinary } from '@portal/testing/services';

const isInstalled = (['haproxy', 'initdb', 'redis-server'] as const).every((name) => serviceBinary(name) !== null);

// The long form is `pnpm soak machines`.
describe.skipIf(!isInstalled)(
  'two machines that lose an API, a worker, PostgreSQL, Redis, the file store and then their release',
  () => {
    it('lose nothing, do nothing twice, and refuse only with 503', { timeout: 240_000 }, async () => {
      const { steps, checked, violations } = await runMachines({ steps: shortRun, calmMs: 500, say: () => undefined });
      expect(violations).toEqual([]);
      expect(steps.map(({ name }) => name)).toEqual(['nothing happens', ...shortRun.map(({ name }) => name)]);
      expect(Object.values(checked.confirmed)).not.toContain(0);
    });
  },
);
