import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import { notFound } from '@portal/domain/errors';
import { carriesToken } from '@portal/platform/bearer-token';
import type { Config } from '@portal/platform/config';
import { isLocalCaller } from '@portal/platform/local-caller';
import type { Runtime } from '@portal/platform/runtime';
import type { App } from '../zod-app.ts';

const workerTimeoutMs = 500;
const workerMaxBytes = 4 * 1024 * 1024;

/** Metrics for Prometheus. Callers without access get the same answer as for an unknown path. */
export function registerMetrics(app: App, runtime: Runtime): void {
  const { config, metrics } = runtime;
  const token = config.metricsToken?.reveal();
  const mayRead =
    token === undefined ? isFromThisMachine : ({ headers }: FastifyRequest) => carriesToken(headers, token);
  app.get(
    '/metrics',
    {
      config: { access: open('scrapers send a token or run on this machine'), errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'getMetrics',
        tags: ['operations'],
        summary: 'Get metrics for Prometheus',
        description:
          'If METRICS_TOKEN is set, callers must send it as a bearer token. If it is not set, only callers on the same machine that use the host `127.0.0.1`, `[::1]` or `localhost` are allowed. All other callers get 404. Under `npm start` the worker’s metrics are included.',
        produces: ['text/plain'],
        response: { 200: z.string().describe('Prometheus text format') },
      },
    },
    async (request, reply) => {
      if (!mayRead(request)) throw notFound();
      const worker = await readWorker(config);
      const { contentType, body } = await metrics.render(worker);
      return reply.type(contentType).send(body);
    },
  );
}

const isFromThisMachine = ({ socket, headers }: FastifyRequest): boolean =>
  isLocalCaller(socket.remoteAddress, headers);

/** The metrics of the worker on this machine; undefined if there is no worker or it does not answer. */
async function readWorker({ http, worker, metricsToken }: Config): Promise<unknown[] | undefined> {
  if (worker.metricsPort === null) return undefined;
  try {
    const answer = await fetch(
      `http://${wildcardHosts.has(http.host) ? '127.0.0.1' : inUrl(http.host)}:${worker.metricsPort}/metrics.json`,
      {
        headers: metricsToken ? { authorization: `Bearer ${metricsToken.reveal()}` } : {},
        signal: AbortSignal.timeout(workerTimeoutMs),
      },
    );
    if (!answer.ok || !answer.body) return undefined;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > workerMaxBytes) return undefined;
      chunks.push(chunk);
    }
    const families: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return Array.isArray(families) ? families : undefined;
  } catch {
    return undefined;
  }
}

/** Hosts that stand for all addresses of the machine. */
const wildcardHosts = new Set(['0.0.0.0', '::']);

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);
