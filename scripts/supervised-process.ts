import { cacheResolution } from './cached-resolution.ts';

// The supervisor preloads this into the API and the worker: if the supervisor is killed, they end too and free their ports.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();

cacheResolution();
