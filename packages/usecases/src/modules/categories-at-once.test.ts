import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { arrangeAtRandom } from '@portal/testing/scenarios/arrange-categories';

const { url } = await testDatabase();

// The short form of `pnpm soak module-order`.
it('keeps positions without a gap and every module in one category, whatever is called at the same time', async () => {
  const result = await arrangeAtRandom({ databaseUrl: url, rounds: 200, say: () => undefined });
  expect(result.rounds).toBe(200);
  expect(result.done).toBeGreaterThan(result.refused);
});
