import { concurrencyOf } from '@portal/platform/area';
import { startWorker } from '@portal/platform/jobs/worker';
import { openLog } from '@portal/platform/log';
import { checkLogin, LoginError } from '@portal/platform/login-check';
import { openRuntime } from '@portal/platform/runtime';
import { endWithSettings, settingsOrEnd } from '@portal/platform/wrong-settings';
import { areas } from '@portal/usecases/areas';
import { handlersFor } from '@portal/usecases/handlers';
import { serveMetrics } from './metrics-server.ts';

const config = settingsOrEnd(process.env);
const log = openLog(config.logLevel, 'worker');

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error) => {
    log.fatal({ err: error }, 'unhandled error in the worker');
    log.flush(() => process.exit(1));
  });
}

const runtime = openRuntime(config, { process: 'worker', log });
const worker = startWorker(runtime, {
  handlers: handlersFor(areas),
  schedules: areas.flatMap(({ schedules = [] }) => schedules),
  concurrency: concurrencyOf(areas),
});
const stopping = new AbortController();
void checkLogin(runtime, stopping.signal).catch((error: unknown) => {
  if (!(error instanceof LoginError)) throw error;
  endWithSettings(error);
});
const { metricsPort } = config.worker;
const metricsServer =
  metricsPort === null
    ? null
    : await serveMetrics(runtime.metrics, { port: metricsPort, host: config.http.host, token: config.metricsToken });

let isStopping = false;
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  stopping.abort();
  metricsServer?.close();
  await worker.stop();
  // Connections to an unresponsive server must not keep the process alive.
  await Promise.race([runtime.close(), new Promise((resolve) => setTimeout(resolve, 1_000))]);
  log.flush(() => process.exit(0));
}
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
// The parent process died without stopping this one.
process.on('disconnect', () => void stop());

process.send?.({ type: 'ready' });
