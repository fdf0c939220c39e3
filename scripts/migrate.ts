import { migrateDatabase } from '@portal/db/migrate';
import { Settings } from '@portal/platform/config';
import { explainFailure } from './explain-failure.ts';

const { data: settings, error } = Settings.pick({ DATABASE_URL: true, DATABASE_MIGRATION_URL: true }).safeParse({
  DATABASE_URL: process.env['DATABASE_URL'] || undefined,
  DATABASE_MIGRATION_URL: process.env['DATABASE_MIGRATION_URL'] || undefined,
});
if (settings) {
  const { DATABASE_URL: appUrl, DATABASE_MIGRATION_URL: url = appUrl } = settings;
  try {
    await migrateDatabase(url, { appUrl, log: (line) => console.log(line) });
  } catch (failure) {
    console.error(`The database was not migrated. ${explainFailure(failure)}`);
    process.exitCode = 1;
  }
} else {
  for (const { path, message } of error.issues) {
    const name = String(path[0]);
    console.error(`${name} ${process.env[name] ? message : 'must be set: postgres://user:password@host:port/name'}`);
  }
  process.exitCode = 1;
}
