import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import { invalid } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { Runtime } from '@portal/platform/runtime';
import { registerAccounting } from './accounting/routes.ts';
import { registerAccounts } from './accounts/routes.ts';
import { registerAudit } from './audit/routes.ts';
import { registerCalendar } from './calendar/routes.ts';
import { registerCertificates } from './certificates/routes.ts';
import { registerCloudStatus } from './cloud-status/routes.ts';
import { registerDashboards } from './dashboards/routes.ts';
import { registerDesktop } from './desktop/routes.ts';
import { registerDirectory } from './directory/routes.ts';
import { registerInvoices } from './invoices/routes.ts';
import { registerMailSettings } from './mail-settings/routes.ts';
import { registerModules } from './modules/routes.ts';
import { registerMonitoring } from './monitoring/routes.ts';
import { registerDocs } from './openapi/routes.ts';
import { registerOperations } from './operations/routes.ts';
import { guardRoutes } from './plugins/access.ts';
import { requestIds, trustedPeers } from './plugins/client-address.ts';
import { answerOrigins, checkOrigins } from './plugins/cors.ts';
import { answerError, answerErrors } from './plugins/errors.ts';
import { readJsonBodies } from './plugins/json-body.ts';
import { limitLoad } from './plugins/load.ts';
import { requestWatcher } from './plugins/request-log.ts';
import { listRoutes } from './plugins/route-list.ts';
import { securityHeaders } from './plugins/security.ts';
import { answerUnknownExpectations, socketErrorHandler } from './plugins/socket-errors.ts';
import { answerWithDeclaredStatus } from './plugins/success-status.ts';
import { answerUnknownPaths } from './plugins/unknown-paths.ts';
import { registerReminders } from './reminders/routes.ts';
import { registerSupport } from './support/routes.ts';
import { registerTenants } from './tenants/routes.ts';
import { registerTenders } from './tenders/routes.ts';
import { registerWeb } from './web/routes.ts';
import { type App, useZod, zodOnly } from './zod-app.ts';

const limits = {
  bodyLimit: 1024 * 1024,
  /** From a request's first byte to its last. Together with the checking interval, slow senders are cut off within 30 s. */
  requestTimeout: 28 * SECOND,
  /** Longest time without a byte read. Node checks twice before it emits `timeout`, so stalled readers are cut off within 30 s. */
  connectionTimeout: 12 * SECOND,
  /** Longer than that of load balancers (60 s), so that the load balancer closes idle connections, not this server. */
  keepAliveTimeout: 72 * SECOND,
  http: {
    // Shorter than `connectionTimeout`, which would close the connection without an answer.
    headersTimeout: 10 * SECOND,
    connectionsCheckingInterval: 1 * SECOND,
    maxHeaderSize: 16 * 1024,
    // Buffer of a body and of an answer. Node stores each chunk as an object: 64 KiB sent byte by byte would take 20 MB until read.
    highWaterMark: 16 * 1024,
    // Node would answer a missing Host with an empty 400; the hook below answers with a message.
    requireHostHeader: false,
  },
};

/** Builds the server without listening: first the hooks of every request, then one line per area. */
export async function buildApp(runtime: Runtime): Promise<App> {
  const { config, log, metrics } = runtime;
  const headers = securityHeaders(config);
  const watch = requestWatcher(log, metrics);
  const trusts = trustedPeers(config.http.trustProxy);

  const fastify = Fastify({
    ...limits,
    ...zodOnly,
    // `requestWatcher` writes one line per request; Fastify would write two and create a logger for each request.
    logger: false,
    genReqId: requestIds(trusts),
    trustProxy: trusts,
    // While stopping, the server still answers requests on open connections and closes each connection after its answer.
    return503OnClosing: false,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 },
    clientErrorHandler: socketErrorHandler(headers),
    // Requests with an undecodable URL never reach a route or its hooks.
    frameworkErrors: (error, request, reply) => {
      watch(request, reply);
      reply.headers(headers).header('x-request-id', request.id);
      answerError(error, request, reply);
    },
  });
  answerUnknownExpectations(fastify.server, headers);
  const app = useZod(fastify);

  app.addHook('onRequest', (request, reply, done) => {
    watch(request, reply);
    reply.headers(headers).header('x-request-id', request.id);
    done();
  });
  await answerOrigins(app, config);
  limitLoad(app, metrics);
  app.addHook('onRequest', ({ headers, raw }, _reply, done) => {
    const lacksHost = headers.host === undefined && raw.httpVersion === '1.1';
    done(lacksHost ? invalid('VALIDATION_FAILED', 'The request has no Host header.') : undefined);
  });
  // Only the code that needs a cookie parses them, not every request.
  await app.register(cookie, { hook: false });
  checkOrigins(app, config);
  answerUnknownPaths(app);
  guardRoutes(app, runtime);
  listRoutes(app);
  answerWithDeclaredStatus(app);
  readJsonBodies(app);
  answerErrors(app);
  registerDocs(app, config);
  registerWeb(app, config);

  registerAccounts(app);
  registerTenants(app);
  registerModules(app);
  registerMailSettings(app);
  registerDashboards(app);
  registerReminders(app);
  registerCertificates(app);
  registerAccounting(app);
  registerCalendar(app);
  registerDirectory(app);
  registerSupport(app);
  registerDesktop(app);
  registerCloudStatus(app);
  registerMonitoring(app);
  registerInvoices(app);
  registerTenders(app);
  registerAudit(app);
  registerOperations(app, runtime);

  await app.after();
  return app;
}
