import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { arrangeAtRandom } from '@portal/testing/scenarios/arrange-categories';

const { url } = await testDatabase();

it('keeps positions without gaps and every module in one category during concurrent calls', async () => {
  const result = await arrangeAtRandom({ databaseUrl: url, rounds: 200, say: () => undefined });
  expect(result.rounds).toBe(200);
  expect(result.done).toBeGreaterThan(result.refused);
});
