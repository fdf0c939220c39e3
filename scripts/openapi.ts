import { buildApp } from '@portal/api/app';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';

// Prints the OpenAPI document and nothing else. It needs no server and no database, because it never connects.
const noKey = `none:${Buffer.alloc(32).toString('base64')}`;
const config = readConfig({
  RELEASE_VERSION: process.env['RELEASE_VERSION'],
  DATABASE_URL: 'postgres://nobody@127.0.0.1/nothing',
  SESSION_SECRET: noKey,
  SECRETS_KEYS: noKey,
});
const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
const app = await buildApp(runtime);
const { body } = await app.inject('/openapi.json');
process.stdout.write(`${body}\n`);
await app.close();
await runtime.close();
