import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Secret } from '@portal/domain/secret';
import { SECOND } from '@portal/domain/time';
import { carriesToken } from '@portal/platform/bearer-token';
import { isLocalCaller } from '@portal/platform/local-caller';
import type { Metrics } from '@portal/platform/metrics';

export interface MetricsServer {
  port: number;
  close(): void;
}

interface MetricsServerOptions {
  port: number;
  host: string;
  token: Secret | null;
}

/**
 * Serves the worker's own metrics: `/metrics` for a scraper, `/metrics.json` for the API, which combines both processes.
 * Only callers on this machine or with the token get them; all others get 404.
 */
export async function serveMetrics(
  metrics: Metrics,
  { port, host, token }: MetricsServerOptions,
): Promise<MetricsServer> {
  const answers: Record<string, () => Promise<{ contentType: string; body: string }>> = {
    '/metrics': () => metrics.render(),
    '/metrics.json': async () => ({
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify(await metrics.json()),
    }),
  };
  const server = createServer({ requestTimeout: 5 * SECOND, headersTimeout: 5 * SECOND }, (request, response) => {
    const answer = answers[request.url ?? ''];
    if (
      request.method !== 'GET' ||
      !answer ||
      !(
        isLocalCaller(request.socket.remoteAddress, request.headers) ||
        (token !== null && carriesToken(request.headers, token.reveal()))
      )
    ) {
      response.writeHead(404).end();
      return;
    }
    answer().then(
      ({ contentType, body }) =>
        response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
