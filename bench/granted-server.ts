import { buildApp } from '@portal/api/app';
import { needs } from '@portal/domain/access';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';

// The API with one more route, which does nothing but need a module: what bench modules asks.
const config = readConfig(process.env);
const log = openLog(config.logLevel, 'api');
const app = await buildApp(openRuntime(config, { process: 'api', log }));
app.get('/granted', { config: { access: needs('calendar', 'MANAGE') } }, () => Promise.resolve({ granted: true }));
await app.listen({ host: config.http.host, port: config.http.port });
