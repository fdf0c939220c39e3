import { describe, expect, it, onTestFinished } from 'vitest';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { childProcesses } from '@portal/testing/child-processes';
import { testRuntime } from '@portal/testing/runtime';
import { workbook } from '@portal/testing/workbook';
import { listAccounts } from './accounts.ts';
import { previewCanteen } from './canteen.ts';
import { exportMerchandise } from './merchandise.ts';

const { make, signedIn } = await testRuntime();
const names = Array.from({ length: 20_000 }, (_, n) => `Artikel ${n}`);
const book = workbook([['Artikel', '11/2026'], ...names.map((name) => [name, 1])]);
const list = Buffer.from(`PNR;Betrag\n${'1;1,00\n'.repeat(100_000)}`);

describe.runIf(process.platform === 'linux')('a process that is killed while reading', () => {
  it('answers 503 and stores nothing, and the next one works', async () => {
    const sandbox = openSandbox({ processes: 1 });
    onTestFinished(() => sandbox.close());
    const ctx = { ...(await signedIn(await make.user({ role: 'ADMIN' }))), sandbox, resources: new Map() };
    const input = {
      bytes: book,
      accountsVersion: 0,
      assignments: names.map((name, n) => ({ name, number: `${10_000 + n}` })),
      period: null,
    };
    const works = [() => exportMerchandise(ctx, input), () => previewCanteen(ctx, { bytes: list, month: '2026-11' })];
    for (const work of works) {
      const before = childProcesses();
      const answer = work().catch((error: unknown) => error);
      await expect.poll(() => childProcesses().length, { interval: 5 }).toBe(before.length + 1);
      for (const pid of childProcesses()) if (!before.includes(pid)) process.kill(pid, 'SIGKILL');
      expect(await answer).toMatchObject({ kind: 'unavailable', retryAfterSec: 5 });
    }
    expect(await listAccounts(ctx)).toEqual({ version: 0, accounts: [] });
    expect(await ctx.read((db) => db.select().from(auditEntries))).toEqual([]);

    expect((await exportMerchandise(ctx, input)).rows).toBe(20_000);
    const { version, accounts } = await listAccounts(ctx);
    expect([version, accounts.length]).toEqual([1, 20_000]);
  });
});
