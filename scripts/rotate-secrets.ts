// pnpm secrets:rotate — re-encrypts every stored secret with the first of SECRETS_KEYS; the apps may keep running.
import { openDatabase } from '@portal/db/open';
import { type Config, readConfig } from '@portal/platform/config';
import { rotateSecrets } from '@portal/platform/secrets/rotate-secrets';
import { openSecrets } from '@portal/platform/secrets/sealed';
import { areas } from '@portal/usecases/areas';
import { acquireExistingDatabase } from './acquire-database.ts';
import { explainFailure } from './explain-failure.ts';

try {
  const { env, release } = await acquireExistingDatabase(process.env);
  try {
    await rotate(readConfig(env));
  } finally {
    await release();
  }
} catch (error) {
  console.error(`Not every secret was re-encrypted. Run this again to continue. ${explainFailure(error)}`);
  process.exitCode = 1;
}

async function rotate({ database: settings, secretsKeys }: Config): Promise<void> {
  const database = openDatabase({ url: settings.url.reveal(), poolMax: 1, applicationName: 'portal-rotate-secrets' });
  try {
    const rotations = await rotateSecrets(
      database,
      openSecrets(secretsKeys),
      areas.flatMap((area) => area.sealedColumns ?? []),
    );
    let left = 0;
    for (const { column, current, reEncrypted, unreadable, overtaken } of rotations) {
      console.log(`${column}: ${reEncrypted} re-encrypted, ${current} already current`);
      for (const [reason, count] of unreadable) console.error(`  ${count} left unchanged. ${reason}`);
      if (overtaken > 0) console.error(`  ${overtaken} changed in the meantime`);
      left += overtaken + [...unreadable.values()].reduce((sum, count) => sum + count, 0);
    }
    if (left === 0)
      console.log(
        `Every stored secret is sealed with the key "${secretsKeys[0].id}". Once all processes run with this key first, you can remove the others.`,
      );
    else console.error('Not every secret is sealed with the first key. Keep the other keys and run this again.');
    process.exitCode = left === 0 ? 0 : 1;
  } finally {
    await database.close();
  }
}
