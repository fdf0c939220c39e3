import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { raceDashboards, raceNames } from '@portal/testing/scenarios/race-dashboards';

const { url } = await testDatabase();

it.each(raceNames)('the race for the %s has one winner in every round', { timeout: 120_000 }, async (race) => {
  await expect(raceDashboards({ databaseUrl: url, race, rounds: 25 })).resolves.toBeUndefined();
});
