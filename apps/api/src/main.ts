import { once } from 'node:events';
import { createServer } from 'node:net';
import { SECOND } from '@portal/domain/time';
import { openLog } from '@portal/platform/log';
import { checkLogin, LoginError } from '@portal/platform/login-check';
import { openRuntime } from '@portal/platform/runtime';
import { endWithSettings, settingsOrEnd } from '@portal/platform/wrong-settings';
import { buildApp } from './app.ts';

// Of the 20 s a stop may take, the share of requests under way.
const drainMs = 10 * SECOND;
const stopMs = 15 * SECOND;
const lastMs = 1 * SECOND;
const idleCheckMs = 100;

const given = settingsOrEnd(process.env);
// Links in mails and the service's own origins name the port, so it is settled before anything is opened.
const config =
  given.http.port === 0 ? settingsOrEnd({ ...process.env, PORT: String(await freePort(given.http.host)) }) : given;
const log = openLog(config.logLevel, 'api');

function fail(error: unknown): never {
  log.fatal({ err: error }, 'the API failed');
  process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const runtime = openRuntime(config, { process: 'api', log });
const app = await buildApp(runtime);
await app.listen({ host: config.http.host, port: config.http.port }).catch(fail);
const stopping = new AbortController();
checkLogin(runtime, stopping.signal).catch((error: unknown) =>
  error instanceof LoginError ? endWithSettings(error) : fail(error),
);

// A terminal's Ctrl-C and the supervisor's own signal may both arrive; without a supervisor there is nobody to work for.
let isStopping = false;
const events = process.connected ? (['SIGTERM', 'SIGINT', 'disconnect'] as const) : (['SIGTERM', 'SIGINT'] as const);
for (const event of events) {
  process.on(event, () => {
    if (isStopping) return;
    isStopping = true;
    stopping.abort();
    log.info({ reason: event }, 'the API is stopping');
    stop().catch(fail);
  });
}

// Only now: whoever reads this may ask for the end at once.
log.info({ url: config.http.publicUrl, release: config.release.version }, 'the API is up');
process.send?.({ type: 'ready', url: config.http.publicUrl });

/** Takes no more connections, finishes the requests under way, and lets go of everything. */
async function stop(): Promise<void> {
  setTimeout(() => fail(new Error('stopping took too long')), stopMs).unref();
  setTimeout(() => app.server.closeAllConnections(), drainMs).unref();
  // A request that was under way leaves its connection open for the next one, which nobody will answer.
  setInterval(() => app.server.closeIdleConnections(), idleCheckMs).unref();
  await app.close();
  await runtime.close();
  log.info('the API has stopped');
  // Left to itself the process ends once the log is written; whatever else still holds it gets one more second.
  if (process.connected) process.disconnect?.();
  setTimeout(() => process.exit(), lastMs).unref();
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
