// pnpm admin:reset-password NAME — gives a local account a temporary password and prints it once.
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { operatorResetPassword } from '@portal/usecases/accounts/temporary-passwords';
import { acquireExistingDatabase } from './acquire-database.ts';
import { explainFailure } from './explain-failure.ts';

const [username, ...rest] = process.argv.slice(2);
if (!username || rest.length > 0) {
  console.error('Usage: pnpm admin:reset-password NAME');
  process.exit(2);
}

const place = await acquireExistingDatabase(process.env).catch((error: unknown) => {
  console.error(explainFailure(error));
  process.exit(1);
});
try {
  const runtime = openRuntime(readConfig(place.env), { process: 'script', log: openLog('warn', 'script') });
  try {
    const system = runtime.system({ requestId: newId(), ip: null, userAgent: 'admin:reset-password' });
    const { temporaryPassword, wasInDirectory } = await operatorResetPassword(system, username);
    console.log(
      `Temporary password of ${username}: ${temporaryPassword}\nThe user must change it at the next sign-in, within 7 days. All sessions of the account have ended.`,
    );
    if (wasInDirectory)
      console.log(
        'It was a SUPER_ADMIN from a directory. It is now a local account without an e-mail address: please enter one.',
      );
  } finally {
    await runtime.close();
  }
} catch (error) {
  if (error instanceof PortalError && error.kind === 'not_found')
    console.error(`There is no local account named ${username}.`);
  else console.error(error instanceof PortalError ? error.message : explainFailure(error));
  process.exitCode = 1;
} finally {
  await place.release();
}
