import { expect, it } from 'vitest';
import { upgradeFromTheFirst } from '@portal/testing/scenarios/upgrade';
import { startTestServer } from '@portal/testing/server';

// The long form, with a million rows, is `pnpm soak upgrade`.
it('the first release keeps working during and after the migration to this release', async () => {
  const server = await startTestServer();
  try {
    const { violations } = await upgradeFromTheFirst({ url: server.url, rows: 20_000, say: () => undefined });
    expect(violations).toEqual([]);
  } finally {
    await server.stop();
  }
});
