import { z } from 'zod';
import { role } from '@portal/domain/access';
import { LdapSyncPreview, LdapSyncRun } from '@portal/domain/directory/sync';
import { Id } from '@portal/domain/ids';
import { getSyncRun, listSyncRuns } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { previewSync } from '@portal/usecases/directory/sync/preview-sync';
import { pageQuery, sendPage } from '../paging.ts';
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import { type App, ById } from '../zod-app.ts';

const tags = ['directory'];
const access = role('ADMIN');

const SyncRequest = z
  .object({
    force: z
      .boolean()
      .default(false)
      .describe(
        'Allows the run to exceed the deactivation limit: to deactivate more accounts, and to remove more groups with everything granted to them',
      ),
  })
  .nullish()
  .meta({ example: { force: false } });

/** Routes to preview, start and list synchronizations. */
export function registerDirectorySync(app: App): void {
  app.post(
    '/ldap/sync/preview',
    {
      config: {
        access,
        errors: { 409: ['DIRECTORY_NOT_CONFIGURED'], 429: ['RATE_LIMITED'], 502: ['DIRECTORY_UNAVAILABLE'] },
      },
      schema: {
        operationId: 'previewSync',
        tags,
        summary: 'Preview a synchronization',
        description:
          'Reads the directory like a run and returns the counts and up to 500 changes; nothing is written. For each tenant one preview runs at a time and two more wait; the next one answers 429. 502 if reading the directory takes longer than 25 s.',
        response: { 200: LdapSyncPreview },
      },
    },
    (request) => previewSync(request.ctx),
  );

  app.post(
    '/ldap/sync',
    {
      config: { access, errors: { 409: ['DIRECTORY_NOT_CONFIGURED', 'SYNC_RUNNING'] } },
      schema: {
        operationId: 'startSync',
        tags,
        summary: 'Start a synchronization',
        description: `Answers 202 at once and goes on in the background, even while the directory is switched off. ${waitsFor('the whole run')}`,
        body: SyncRequest,
        response: { 200: LdapSyncRun, 202: StartedRun },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startSync(ctx, request.body ?? {});
      return answerRun(request, reply, started, { scope: ctx, result: () => getSyncRun(ctx, started.runId) });
    },
  );

  app.get(
    '/ldap/sync/runs',
    {
      config: { access },
      schema: {
        operationId: 'listSyncRuns',
        tags,
        summary: 'List synchronizations',
        description:
          'Newest first, with the changes of each run and the reason if it failed. Runs are kept for 90 days.',
        querystring: z.object(pageQuery({ after: Id })),
        response: { 200: z.array(LdapSyncRun) },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      return sendPage(reply, await listSyncRuns(request.ctx, { limit, after: cursor }));
    },
  );

  app.get(
    '/ldap/sync/runs/:id',
    {
      config: { access },
      schema: {
        operationId: 'getSyncRun',
        tags,
        summary: 'Get a synchronization',
        description:
          'Returns the progress while it runs; afterwards its result, with a warning for everything it deliberately left unchanged.',
        params: ById,
        response: { 200: LdapSyncRun },
      },
    },
    (request) => getSyncRun(request.ctx, request.params.id),
  );
}
