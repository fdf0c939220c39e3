import { isTableMissing } from '@portal/db/database-error';
import { readConfig } from '@portal/platform/config';
import { seedFirstStart } from '@portal/usecases/tenants/seed-first-start';
import { explainFailure } from './explain-failure.ts';

try {
  const { username, generatedPassword, created } = await seedFirstStart(readConfig(process.env));
  if (created) {
    console.log('The first administrator may sign in within 7 days and must then choose a new password.');
    console.log(`  username  ${username}`);
    console.log(
      generatedPassword === null
        ? '  password  the one in SEED_ADMIN_PASSWORD'
        : `  password  ${generatedPassword}   (shown this once)`,
    );
  } else {
    console.log('Nothing to do: the database is not empty.');
  }
} catch (error) {
  const reason = isTableMissing(error) ? 'The tables are missing: run `pnpm migrate` first.' : explainFailure(error);
  console.error(`Nothing was seeded. ${reason}`);
  process.exitCode = 1;
}
