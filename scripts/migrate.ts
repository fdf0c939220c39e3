import { migrateDatabase } from '@portal/db/migrate';
import { Settings } from '@portal/usecases/run/config';
import { explainFailure } from './explain-failure.ts';

const url = Settings.shape.DATABASE_URL.safeParse(process.env['DATABASE_URL'] || undefined);
if (url.success) {
  try {
    await migrateDatabase(url.data, (line) => console.log(line));
  } catch (error) {
    console.error(`The database was not migrated. ${explainFailure(error)}`);
    process.exitCode = 1;
  }
} else {
  console.error(
    `DATABASE_URL ${process.env['DATABASE_URL'] ? (url.error.issues[0]?.message ?? 'is wrong') : 'must be set: postgres://user:password@host:port/name'}`,
  );
  process.exitCode = 1;
}
