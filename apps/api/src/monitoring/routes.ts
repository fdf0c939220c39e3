import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { historyDays, HistoryQuery, ServerHistory } from '@portal/domain/monitoring/history';
import { isRow } from '@portal/domain/monitoring/rows';
import { Server, ServerTestResult, ServerTile } from '@portal/domain/monitoring/servers';
import { readServerHistory } from '@portal/usecases/monitoring/history';
import { ReadableServerInput, ReadableServerTestInput } from '@portal/usecases/monitoring/servers';
import {
  createServer,
  deleteServer,
  listServersAsJson,
  putServer,
  serverTile,
} from '@portal/usecases/monitoring/servers';
import { startPoll } from '@portal/usecases/monitoring/start-poll';
import { testServer, testStoredServer } from '@portal/usecases/monitoring/test-server';
import { sendJson } from '../files.ts';
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['virtualization'];
const use = needs('virtualization', 'USE');
const manage = needs('virtualization', 'MANAGE');
const formErrors: { 400: ('SECRET_REQUIRED' | 'TOKEN_NOT_SUPPORTED')[] } = {
  400: ['SECRET_REQUIRED', 'TOKEN_NOT_SUPPORTED'],
};

/** Treats `{}` as no body. */
const OptionalForm = z
  .preprocess(
    (body) => (isRow(body) && Object.keys(body).length === 0 ? null : body),
    ReadableServerTestInput.nullish(),
  )
  .meta(ReadableServerTestInput.meta() ?? {});

/** Virtualization, backup and mail gateway servers and their status. */
export function registerMonitoring(app: App): void {
  app.get(
    '/virtualization/servers',
    {
      config: { access: use },
      schema: {
        operationId: 'listServers',
        tags,
        summary: 'List the servers with their status',
        description:
          'All servers by name, including those that are switched off. `status` is the result of the last check. Values that could not be read are `unknown`, never `ok`. A server that was not reached is `unknown`, and `critical` from the second run in a row on; it keeps its last facts and rules with their times. A warning counts once it is found twice in a row. A server that is switched off, or was not checked for three intervals, is `unknown`.',
        response: { 200: z.array(Server) },
      },
    },
    async (request, reply) => sendJson(reply, await listServersAsJson(request.ctx)),
  );

  app.post(
    '/virtualization/servers',
    {
      config: { access: manage, errors: { ...formErrors, 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'createServer',
        tags,
        summary: 'Add a server',
        description:
          'The server is checked within a minute, and then at the smallest `pollIntervalMin` of all active servers. A token may be pasted into `tokenSecret` in full, as the server shows it. Mail gateways do not support tokens. The account is only used for reading; give it the role PVEAuditor, Audit or Auditor on `/`. A tenant has at most 500 servers.',
        body: ReadableServerInput,
        response: { 201: Server },
      },
    },
    async (request, reply) => reply.status(201).send(await createServer(request.ctx, request.body)),
  );

  app.post(
    '/virtualization/servers/test',
    {
      config: { access: manage, errors: { ...formErrors, 404: ['NOT_FOUND'], 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testServer',
        tags,
        summary: 'Test a server before saving it',
        description:
          'Signs in and reads the data every check needs, within 20 s. If the server fails, the answer is still 200: `ok` is false, `failure` is the class of the failure, and `message` says what is wrong or which rights are missing. With `id`, the stored secret is used for a blank one, but only for the server it was stored for. A tenant can make ten tests per minute; each is noted in the audit log with its server.',
        body: ReadableServerTestInput,
        response: { 200: ServerTestResult },
      },
    },
    (request) => testServer(request.ctx, request.body),
  );

  app.put(
    '/virtualization/servers/:id',
    {
      config: { access: manage, errors: formErrors },
      schema: {
        operationId: 'putServer',
        tags,
        summary: 'Replace a server',
        description:
          'A missing, blank or masked secret keeps the stored one, but only with the address, account and certificate check it was stored for; otherwise it is 400 `SECRET_REQUIRED`. The server is checked again within a minute. If the kind or address changes, earlier results are deleted.',
        params: ById,
        body: ReadableServerInput,
        response: { 200: Server },
      },
    },
    (request) => putServer(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/virtualization/servers/:id',
    {
      config: { access: manage },
      schema: {
        operationId: 'deleteServer',
        tags,
        summary: 'Delete a server',
        description: 'Also deletes its secrets and all results. Widgets that name it continue with the other servers.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteServer(request.ctx, request.params.id),
  );

  app.post(
    '/virtualization/servers/:id/test',
    {
      config: { access: manage, errors: { ...formErrors, 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testStoredServer',
        tags,
        summary: 'Test a stored server',
        description:
          'Without a body the stored settings and secret are tested. With a body its settings are tested, and the stored secret is used for a blank one. Otherwise like `POST /virtualization/servers/test`.',
        params: ById,
        body: OptionalForm,
        response: { 200: ServerTestResult },
      },
    },
    (request) =>
      request.body
        ? testServer(request.ctx, { ...request.body, id: request.params.id })
        : testStoredServer(request.ctx, request.params.id),
  );

  app.get(
    '/virtualization/servers/:id/history',
    {
      config: { access: use },
      schema: {
        operationId: 'getServerHistory',
        tags,
        summary: 'Read how a server fared',
        description: `State and headline figures of the last day, or of the window from \`from\` to \`to\`, in steps of \`stepSec\`. A step has the worst state of its checks, and the average and the highest value of each figure. Of all checks within five minutes, the worst one is kept, and the last one of equally bad checks. The history goes back ${historyDays} days; a server that gets a new kind or address starts a new one. A window that is empty or too long is 400.`,
        params: ById,
        querystring: HistoryQuery,
        response: { 200: ServerHistory },
      },
    },
    (request) => readServerHistory(request.ctx, request.params.id, request.query),
  );

  app.post(
    '/virtualization/poll',
    {
      config: { access: use, errors: { 429: ['POLL_LOCKED'] } },
      schema: {
        operationId: 'startPoll',
        tags,
        summary: 'Check the servers now',
        description: `Answers 202 at once and continues in the background; if a run is already under way, its id is returned. Allowed once every ten seconds per tenant, otherwise 429 \`POLL_LOCKED\`. A server that refused the sign-in keeps its status and is left alone until an interval has passed or its settings change, because servers lock accounts out that fail too often. ${waitsFor('the body of `GET /virtualization/status`')}`,
        response: { 200: ServerTile, 202: StartedRun },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startPoll(ctx);
      return answerRun(request, reply, started, { scope: ctx, result: () => serverTile(ctx) });
    },
  );

  app.get(
    '/virtualization/status',
    {
      config: { access: use },
      schema: {
        operationId: 'getServerTile',
        tags,
        summary: 'Get the status of the active servers for a widget',
        description: 'Servers with the worst status come first. `worst` is `unknown` if there is no active server.',
        response: { 200: ServerTile },
      },
    },
    (request) => serverTile(request.ctx),
  );
}
