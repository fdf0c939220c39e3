import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import type { AlertKind } from '@portal/domain/tenders/saved-searches';
import { subscriptionOf, unsubscribe } from '@portal/usecases/tenders/alerts/unsubscribe';
import { readBytes } from '../plugins/read-bytes.ts';
import type { App } from '../zod-app.ts';

const tags = ['tenders'];
// The link itself is the permission, as in all mails with an unsubscribe link. Mail providers send the POST from any origin and in any form
// encoding.
const config = { access: open('a recipient of the mail may end mails of its kind'), takesForeignOrigins: true };
const params = z.object({ token: z.string() });

const style =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color:#1f2937}button{font:inherit;padding:.6rem 1.4rem;border:0;border-radius:.5rem;background:#2563eb;color:#fff;cursor:pointer}';
const styleHash = createHash('sha256').update(style).digest('base64');
const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;

const page = (title: string, body: string): string => `<!doctype html>
<html lang="de">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <style>${style}</style>
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
  </body>
</html>
`;

const mailsOf: Record<AlertKind, string> = {
  digest: 'die Übersicht Ihrer gespeicherten Suchen',
  instant: 'Sofortmeldungen Ihrer gespeicherten Suchen',
};

// Without an action the form posts to its own address, also behind a proxy.
const question = (kind: AlertKind) =>
  page(
    'E-Mails abbestellen',
    `<p>Möchten Sie ${mailsOf[kind]} nicht mehr per E-Mail bekommen?</p>
    <form method="post"><button type="submit">Abbestellen</button></form>`,
  );
const done = (kind: AlertKind) =>
  page(
    'Abbestellt',
    `<p>Sie bekommen ${mailsOf[kind]} nicht mehr per E-Mail. Im Portal können Sie das jederzeit wieder ändern.</p>`,
  );

const sendPage = (reply: FastifyReply, html: string) =>
  reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy).send(html);

/** Unsubscribing from digests and alerts without signing in. */
export function registerUnsubscribe(app: App): void {
  void app.register((plain, _options, registered) => {
    const scope: App = plain.withTypeProvider();
    // Accept any body and ignore it. It is read to its end, within the limit for open routes.
    scope.addContentTypeParser('*', (request, payload, parsed) => {
      readBytes(request, payload, request.routeOptions.bodyLimit).then(() => parsed(null), parsed);
    });

    scope.get(
      '/unsubscribe/:token',
      {
        config,
        schema: {
          operationId: 'askToEndMails',
          tags,
          summary: 'Show the page to unsubscribe from mails',
          description: 'A small German page with a button that unsubscribes; opening the page changes nothing.',
          params,
          produces: ['text/html'],
          response: { 200: z.string().describe('The page') },
        },
      },
      async (request, reply) => sendPage(reply, question(await subscriptionOf(request.system, request.params.token))),
    );

    scope.post(
      '/unsubscribe/:token',
      {
        config,
        schema: {
          operationId: 'endMails',
          tags,
          summary: 'Unsubscribe from mails',
          description:
            'The one-click unsubscribe of RFC 8058: a POST with any body, without signing in. The link in a digest switches digests off; the link in an instant alert switches off the alerts of all saved searches of the account. A second call has no further effect.',
          params,
          produces: ['text/html'],
          response: { 200: z.string().describe('The page') },
        },
      },
      async (request, reply) => sendPage(reply, done(await unsubscribe(request.system, request.params.token))),
    );
    registered();
  });
}
