import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import type { Config } from '@portal/platform/config';
import { jsonType } from '../plugins/error-body.ts';
import { sessionCookieName } from '../session-cookie.ts';
import type { App } from '../zod-app.ts';
import { describeRoutes } from './document.ts';

const tags = ['operations'];
const access = open('the description of the interface is not secret');

const swaggerUi = new URL('static/', import.meta.resolve('@fastify/swagger-ui/package.json'));

const assets = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Portal API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  showExtensions: true,
  filter: true,
  validatorUrl: null,
});
`;

// Only resources from this server, nothing inline.
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const daySec = 24 * 60 * 60;

/** The OpenAPI document and a page to browse it. Built on the first request, so that the server does not keep them in memory before. */
export function registerDocs(app: App, config: Config): void {
  let document: string | undefined;
  app.get(
    '/openapi.json',
    {
      config: { access },
      schema: {
        operationId: 'getOpenApiDocument',
        tags,
        summary: 'Get this document',
        description: 'OpenAPI 3.1: every route with its request, answers, errors and examples.',
        response: {
          200: z
            .looseObject({ openapi: z.string() })
            .meta({ example: { openapi: '3.1.0', info: { title: 'Portal', version: '1.4.0' }, paths: {} } }),
        },
      },
    },
    async (_request, reply) => {
      document ??= JSON.stringify(
        describeRoutes(app.routeList, { version: config.release.version, cookieName: sessionCookieName(config) }),
      );
      return reply
        .type(jsonType)
        .header('cache-control', 'no-cache')
        .send(document as never);
    },
  );

  app.get(
    '/docs',
    {
      config: { access },
      schema: {
        operationId: 'getDocumentation',
        tags,
        summary: 'Browse this document',
        description: 'A page that shows every route and allows you to try it.',
        produces: ['text/html'],
        response: { 200: z.string().describe('The page') },
      },
    },
    (_request, reply) => {
      reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy).send(page);
    },
  );
  app.get('/docs/start.js', { config: { access }, schema: { hide: true } }, (_request, reply) => {
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(startScript);
  });
  for (const [name, type] of Object.entries(assets)) {
    app.get(`/docs/${name}`, { config: { access }, schema: { hide: true } }, async (_request, reply) =>
      reply
        .type(type)
        .header('cache-control', `public, max-age=${daySec}`)
        .send(await readFile(new URL(name, swaggerUi))),
    );
  }
}
