// pnpm after-restore — run it once on a restored database, before API and worker: it cancels pending mails, so that none is sent twice.
import { sql } from 'drizzle-orm';
import { isTableMissing } from '@portal/db/database-error';
import { type Database, openDatabase } from '@portal/db/open';
import { cancelPending } from '@portal/platform/cancel-after-restore';
import { readConfig } from '@portal/platform/config';
import { rotateSecrets } from '@portal/platform/secrets/rotate-secrets';
import { openSecrets } from '@portal/platform/secrets/sealed';
import { areas } from '@portal/usecases/areas';
import { acquireDatabase } from './acquire-database.ts';
import { explainFailure } from './explain-failure.ts';

try {
  const { env, release } = await acquireDatabase(process.env);
  try {
    const { database: settings, secretsKeys } = readConfig(env);
    const database = openDatabase({ url: settings.url.reveal(), poolMax: 1, applicationName: 'portal-after-restore' });
    try {
      if (await isInUse(database))
        throw new Error(
          'The API or a worker is connected to it. Stop both first: mails they have not sent yet would be cancelled.',
        );
      const cancelled = await cancelPending(
        database,
        areas.flatMap(({ cancelAfterRestore = [] }) => cancelAfterRestore),
      );
      for (const [what, count] of Object.entries(cancelled)) console.log(`${what}: ${count} will not be sent again`);
      const columns = areas.flatMap(({ sealedColumns = [] }) => sealedColumns);
      const rotations = await rotateSecrets(database, openSecrets(secretsKeys), columns);
      const lost = rotations.filter(({ unreadable }) => unreadable.size > 0);
      for (const { column, unreadable } of lost)
        for (const [reason, count] of unreadable) console.error(`${column}: ${count} cannot be read. ${reason}`);
      if (lost.length === 0) console.log('Every stored secret can be read.');
      else {
        console.error(
          'Add the keys that sealed them to SECRETS_KEYS, or enter these secrets again. Until then the service does not call the systems that need them.',
        );
        process.exitCode = 1;
      }
    } finally {
      await database.close();
    }
  } finally {
    await release();
  }
} catch (error) {
  const reason = isTableMissing(error) ? 'The tables are missing: restore the database first.' : explainFailure(error);
  console.error(`The restored database is not ready. ${reason}`);
  process.exitCode = 1;
}

async function isInUse({ acrossTenants }: Pick<Database, 'acrossTenants'>): Promise<boolean> {
  const { rows } = await acrossTenants('an operator asks whether the service is connected', (tx) =>
    tx.execute(
      sql`select from pg_stat_activity where datname = current_database() and application_name in ('portal-api', 'portal-worker')`,
    ),
  );
  return rows.length > 0;
}
