import { once } from 'node:events';
import { createServer } from 'node:net';
import { SECOND } from '@portal/domain/time';
import { openLog } from '@portal/platform/log';
import { checkLogin, LoginError } from '@portal/platform/login-check';
import { openRuntime } from '@portal/platform/runtime';
import { endWithSettings, settingsOrEnd } from '@portal/platform/wrong-settings';
import { buildApp } from './app.ts';

// A stop may take 20 s in all; this is the share of the requests in progress.
const drainMs = 10 * SECOND;
const stopMs = 15 * SECOND;
const lastMs = 1 * SECOND;
const idleCheckMs = 100;

const given = settingsOrEnd(process.env);
// Links in mails and the service's own origins name the port, so the port is chosen before anything is opened.
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

// Ctrl-C in a terminal and the supervisor's own signal may both arrive. If the supervisor disconnects, the API stops as well.
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

// Only after the signal handlers are set: a reader of this line may stop the process at once.
log.info({ url: config.http.publicUrl, release: config.release.version }, 'the API is up');
process.send?.({ type: 'ready', url: config.http.publicUrl });

/** Stops accepting connections, finishes the requests in progress, and closes everything. */
async function stop(): Promise<void> {
  setTimeout(() => fail(new Error('stopping took too long')), stopMs).unref();
  setTimeout(() => app.server.closeAllConnections(), drainMs).unref();
  // After a finished request its connection stays open for a next one, which the server would no longer answer.
  setInterval(() => app.server.closeIdleConnections(), idleCheckMs).unref();
  await app.close();
  await runtime.close();
  log.info('the API has stopped');
  // The process ends on its own once the log is written; handles that are still open get one more second.
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
