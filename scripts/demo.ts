// pnpm demo — makes a tenant with something in every area, and ends; pnpm demo serve — does so and keeps its remote systems up.
//   --password WORDS  of its accounts when they are made; without it, one is made and printed
//   --port N          first of the ports of its remote systems (18400)
//   --force --force   fills a database with other tenants, too
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
import { findPlace } from './database-place.ts';
import { accountOf, as } from './demo/act.ts';
import { remindAgain } from './demo/dashboards.ts';
import { fillDemo, OthersAreHereError } from './demo/fill.ts';
import { people, tenantName } from './demo/made-up.ts';
import { startSystems, type Systems } from './demo/systems.ts';
import { explainFailure } from './explain-failure.ts';

const usage = 'Usage: pnpm demo [serve] [--password WORDS] [--port N] [--force --force]';
const outageMs = 10 * MINUTE;

const { serves, password, port, forced } = readArguments();
// Told to stop while it fills, it fills to the end: what it started has to be stopped by it.
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
  const { env, release } = await findPlace(process.env);
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
      say(isNew ? `${tenantName} is there.` : `${tenantName} was there already; what was missing is there now.`);
      if (isNew) say(`Sign in as ${people.map(({ username }) => username).join(', ')} with the password: ${words}`);
      if (remote.invoices === null)
        say('Dovecot is not installed, so no invoices came in. Debian and Ubuntu: apt-get install dovecot-imapd');
    } finally {
      await runtime.close();
    }
  } finally {
    await release();
  }
}

/** Keeps everything up until it is told to stop; one of the clouds fails for ten minutes, is well for ten, and so on. */
async function serve(remote: Systems): Promise<void> {
  say('Its servers, clouds, sources of tenders, mailbox and mail catcher are up. Ctrl-C stops them.');
  say(`So that it reads from them, start the service with:\n\n${settingsOf(remote)} npm start\n`);
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
    const isFine = positionals.length === 0 || (positionals.length === 1 && positionals[0] === 'serve');
    if (!isFine || !Number.isInteger(first) || first < 1_024 || first > 65_000) throw new Error(usage);
    return { serves: positionals.length === 1, password: values.password, port: first, forced: values.force.length };
  } catch {
    console.error(usage);
    process.exit(2);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof OthersAreHereError)
    return `${error.message}\nNothing was filled in. Say --force twice (pnpm demo --force --force) if that is what you want.`;
  if (isTableMissing(error)) return 'Nothing was filled in. The tables are missing: run `pnpm migrate` first.';
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
    return `The ports from ${port} on are taken, perhaps by another \`pnpm demo serve\`. Stop that one, or choose others with --port.`;
  if (error instanceof PortalError || error instanceof SettingsError) return error.message;
  return explainFailure(error);
}

function say(line: string): void {
  console.log(line);
}
