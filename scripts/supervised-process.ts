import { cacheResolution } from './cached-resolution.ts';

// Loaded ahead of the API and the worker by the supervisor: should that be killed, they end themselves instead of
// staying behind on their port.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();

cacheResolution();
