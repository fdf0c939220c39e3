// pnpm demo — creates a tenant with sample data in every area; pnpm demo serve — also keeps its remote systems running.
//   --password WORDS  password of new demo accounts; without it, one is generated and printed
//   --port N          first port of the remote systems (18400)
//   --force --force   also fills a database that has other tenants
import { once } from 'node:events';
import { setInterval as every } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isTableMissing } from '@portal/db/database-error';
import { PortalError } from '@portal/domain/errors';
import { MINUTE } from '@portal/domain/time';
import { readConfig, SettingsError } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { makePassword } from '@portal/usecases/accounts/temporary-passwords';
import { seedFirstStart } from '@portal/usecases/tenants/seed-first-start';
import { acquireDatabase } from './acquire-database.ts';
import { accountOf, as } from './demo/act.ts';
import { remindAgain } from './demo/dashboards.ts';
import { fillDemo, OtherTenantsError } from './demo/fill.ts';
import { people, tenantName } from './demo/made-up.ts';
import { startSystems, type Systems } from './demo/systems.ts';
import { explainFailure } from './explain-failure.ts';

const usage = 'Usage: pnpm demo [serve] [--password WORDS] [--port N] [--force --force]';
const outageMs = 10 * MINUTE;

const { serves, password, port, forced } = readArguments();
// A signal does not interrupt the filling: the systems it started must be stopped afterwards.
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
let systems: Systems | null = null;
try {
  systems = await startSystems(port, {
    onMail: ({ to, subject, text }) => serves && say(`Mail to ${to}: ${subject}\n\n${text}\n`),
  });
  await fill(systems);
  if (serves) await serve(systems);
} catch (error) {
  process.exitCode = 1;
  console.error(reasonOf(error));
} finally {
  await systems?.stop();
}

async function fill(remote: Systems): Promise<void> {
  const { env, release } = await acquireDatabase(process.env);
  try {
    const config = readConfig({ ...env, ...remote.env, LOG_LEVEL: 'error' });
    const { created, generatedPassword } = await seedFirstStart(config);
    if (created && generatedPassword !== null) say(`The password of admin is ${generatedPassword} (shown this once).`);
    const runtime = openRuntime(config, { process: 'script', log: openLog('error', 'script') });
    try {
      const words = password ?? makePassword();
      const { tenantId, isNew } = await fillDemo(runtime, remote, { password: words, isForced: forced > 1 });
      if (serves)
        await remindAgain({ as: async (name, work) => as(runtime, await accountOf(runtime, tenantId, name), work) });
      say(isNew ? `Created ${tenantName}.` : `${tenantName} already existed. Added what was missing.`);
      if (isNew) say(`Sign in as ${people.map(({ username }) => username).join(', ')} with the password: ${words}`);
      if (remote.invoices === null)
        say(
          'There are no invoices, because Dovecot is not installed. Debian and Ubuntu: apt-get install dovecot-imapd',
        );
    } finally {
      await runtime.close();
    }
  } finally {
    await release();
  }
}

/** Keeps the systems running until a signal stops them. One cloud alternates between ten minutes of failure and ten of health. */
async function serve(remote: Systems): Promise<void> {
  say('Its servers, clouds, tender sources, mailbox and mail catcher are running. Ctrl-C stops them.');
  say(`To let the service read from them, start it with:\n\n${settingsOf(remote)} npm start\n`);
  let isBroken = true;
  remote.breakCloud('verlag', isBroken);
  void (async () => {
    for await (const _ of every(outageMs, undefined, { signal: stop.signal })) {
      isBroken = !isBroken;
      remote.breakCloud('verlag', isBroken);
    }
  })().catch(() => undefined);
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
}

function settingsOf({ env }: Systems): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' \\\n  ');
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        password: { type: 'string' },
        port: { type: 'string', default: '18400' },
        force: { type: 'boolean', multiple: true, default: [] },
      },
    });
    const first = Number(values.port);
    const isValid = positionals.length === 0 || (positionals.length === 1 && positionals[0] === 'serve');
    if (!isValid || !Number.isInteger(first) || first < 1_024 || first > 65_000) throw new Error(usage);
    return { serves: positionals.length === 1, password: values.password, port: first, forced: values.force.length };
  } catch {
    console.error(usage);
    process.exit(2);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof OtherTenantsError)
    return `${error.message}\nNothing was added. To add the demo all the same, run: pnpm demo --force --force`;
  if (isTableMissing(error)) return 'Nothing was added. The tables are missing: run `pnpm migrate` first.';
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
    return `Another program uses a port from ${port} on, perhaps another \`pnpm demo serve\`. Stop it, or choose other ports with --port.`;
  if (error instanceof PortalError || error instanceof SettingsError) return error.message;
  return explainFailure(error);
}

function say(line: string): void {
  console.log(line);
}
