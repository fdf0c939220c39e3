import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileSyncing } from '@portal/testing/scenarios/crash-while-syncing';
import { serviceBinary } from '@portal/testing/services';

const { url } = await testDatabase();

// The short form of `pnpm soak directory-crash`. After each kill the job returns within nine seconds.
it.skipIf(!serviceBinary('slapd'))(
  'completes a synchronization although its worker is killed three times',
  { timeout: 300_000 },
  async () => {
    const people = 6_000;
    const result = await crashWhileSyncing({
      databaseUrl: url,
      people,
      kills: 3,
      deadlineMs: 280_000,
      say: () => undefined,
    });
    expect(result).toMatchObject({
      run: { state: 'succeeded', counts: { created: people, groups: 1, memberships: people } },
      accounts: people,
      memberships: people,
      leftToDo: 0,
      staged: 0,
    });
  },
);
