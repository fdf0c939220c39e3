// Preloaded by bench start: logs each module a program loads, when, how long reading it took, and which module imported it first.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { performance } from 'node:perf_hooks';

export interface LoadedModule {
  url: string;
  /** The module that imported it first; empty for the program itself. */
  parent: string;
  /** Milliseconds since the epoch, so that processes share one timeline. */
  at: number;
  readMs: number;
}
export interface LoadedProcess {
  program: string;
  startedAt: number;
  modules: LoadedModule[];
}

const now = () => performance.timeOrigin + performance.now();
const parents = new Map<string, string>();
const modules: LoadedModule[] = [];
let written = 0;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    if (!parents.has(resolved.url)) parents.set(resolved.url, context.parentURL ?? '');
    return resolved;
  },
  load(url, context, nextLoad) {
    const at = now();
    const loaded = nextLoad(url, context);
    modules.push({ url, parent: parents.get(url) ?? '', at, readMs: now() - at });
    return loaded;
  },
});

const file = process.env['BENCH_MODULES'];
setInterval(() => {
  if (file === undefined || written === modules.length) return;
  const added = modules.slice(written);
  written = modules.length;
  const part: LoadedProcess = { program: process.argv[1] ?? '', startedAt: performance.timeOrigin, modules: added };
  appendFileSync(file, `${JSON.stringify(part)}\n`);
}, 50).unref();
