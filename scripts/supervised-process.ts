import { once } from 'node:events';
import { cacheResolution } from './cached-resolution.ts';

// The supervisor preloads this into the API and the worker: if the supervisor is killed, they end too and free their ports.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();

cacheResolution();

// The supervisor starts the API while it prepares the database: the modules load in the meantime, and the settings follow.
const { PORTAL_PRELOAD: module } = process.env;
if (module) {
  delete process.env['PORTAL_PRELOAD'];
  const settings = once(process, 'message') as Promise<[NodeJS.ProcessEnv]>;
  await import(module);
  Object.assign(process.env, (await settings)[0]);
}
