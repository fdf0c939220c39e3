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
import { type App, useZod, zodOnly } from './zod-app.ts';

const limits = {
  bodyLimit: 1024 * 1024,
  /** From a request's first byte to its last; whoever takes longer is gone within half a minute. */
  requestTimeout: 28 * SECOND,
  /** How long a reader may take nothing of its answer. Node looks twice before it says so: whoever stalls is gone within half a minute. */
  connectionTimeout: 12 * SECOND,
  /** Longer than load balancers keep theirs (60 s), so that it is they who hang up. */
  keepAliveTimeout: 72 * SECOND,
  http: {
    // Shorter than `connectionTimeout`, which says nothing.
    headersTimeout: 10 * SECOND,
    connectionsCheckingInterval: 1 * SECOND,
    maxHeaderSize: 16 * 1024,
    // What a body and an answer wait in. Node keeps each chunk as an object: 64 KiB sent byte by byte would weigh 20 MB until they are read.
    highWaterMark: 16 * 1024,
    // Node would answer a missing Host with an empty 400; we say what is missing.
    requireHostHeader: false,
  },
};

/** The server, not yet listening: what holds for every request, then one line per area. */
export async function buildApp(runtime: Runtime): Promise<App> {
  const { config, log, metrics } = runtime;
  const headers = securityHeaders(config);
  const watch = requestWatcher(log, metrics);
  const trusts = trustedPeers(config.http.trustProxy);

  const fastify = Fastify({
    ...limits,
    ...zodOnly,
    // Requests are logged by us, one line each; Fastify would write two and make a logger for each.
    logger: false,
    genReqId: requestIds(trusts),
    trustProxy: trusts,
    // While stopping, what comes in on open connections is still answered; each of them is closed with its answer.
    return503OnClosing: false,
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 },
    clientErrorHandler: socketErrorHandler(headers),
    // Addresses that do not decode never reach a route nor its hooks.
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
    done(lacksHost ? invalid('VALIDATION_FAILED', 'The request names no host.') : undefined);
  });
  // Cookies are parsed where one is needed, not for every request.
  await app.register(cookie, { hook: false });
  checkOrigins(app, config);
  answerUnknownPaths(app);
  guardRoutes(app, runtime);
  listRoutes(app);
  answerWithDeclaredStatus(app);
  readJsonBodies(app);
  answerErrors(app);
  registerDocs(app, config);

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
