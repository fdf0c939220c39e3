// The supervisor runs this at the start: it checks the settings, migrates the database and seeds it. It also looks whether the pages
// are newer than their sources, which takes memory that the supervisor would keep.
import { once } from 'node:events';
import { cacheResolution } from './cached-resolution.ts';
import { explainFailure } from './explain-failure.ts';
import type { FromPreparation, ToPreparation } from './supervisor-preparation.ts';
import { isFresh, usualBuild } from './web-sources.ts';

// Applies to every import from here on
cacheResolution();
// The supervisor has ended or no longer needs this process
process.on('disconnect', () => process.exit());

try {
  const asked = once(process, 'message') as Promise<[ToPreparation]>;
  // Imported here, after cacheResolution and before the rest, so that wrong settings are reported 0.2 s earlier.
  const { readConfig } = await import('@portal/platform/config');
  const { host, port } = readConfig({
    ...process.env,
    // The embedded database has no address yet, so this stands in for it
    DATABASE_URL: process.env['DATABASE_URL'] || 'postgres://127.0.0.1/portal',
  }).http;
  await tell({ type: 'settings', host, port });

  const [{ migrateDatabase }, { seedFirstStart }] = await Promise.all([
    import('@portal/db/migrate'),
    import('@portal/usecases/tenants/seed-first-start'),
  ]);
  const [{ env, ownerUrl }] = await asked;
  const config = readConfig(env);
  const appUrl = config.database.url.reveal();
  await Promise.all([
    migrateDatabase(ownerUrl ?? appUrl, { appUrl }),
    // Afterwards, because the database takes a while to answer
    tell({ type: 'pages', areStale: !isFresh(usualBuild) }),
  ]);
  const { username, generatedPassword } = await seedFirstStart(config);
  const { smtp, logLevel, http } = config;
  const mailServer = smtp && `${smtp.host}:${smtp.port}, from ${smtp.fromAddress}`;
  const { publicUrl } = http;
  await tell({ type: 'prepared', prepared: { publicUrl, username, generatedPassword, mailServer, logLevel } });
} catch (error) {
  await tell({ type: 'failed', message: explainFailure(error) });
}
process.disconnect?.();

function tell(message: FromPreparation): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  return promise;
}
