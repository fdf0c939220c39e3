import { type ChildProcess, spawn } from 'node:child_process';
import { wrongSettingsExit } from '@portal/platform/exit-codes';
import { failuresInRow, restartPauseMs } from './supervisor-pause.ts';

export interface ChildPlan {
  /** Shown in messages: `API`, `worker`. */
  name: string;
  /** Arguments of Node. */
  args: readonly string[];
  /** Called before each start. */
  env: () => NodeJS.ProcessEnv;
  /** A module the first process loads while its settings are not yet known. The process then waits for `begin`. */
  preload?: string;
  onReady: (url: string | null) => void;
  onWrongSettings: () => void;
  say: (line: string) => void;
}

export interface SupervisedChild {
  /** Lets a preloaded program start with the settings of now. */
  begin(): void;
  /** Ends it with SIGTERM, then starts it at once with fresh settings. */
  replace(): void;
  /** Ends it for good: with SIGTERM, and with SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

/** Starts a program of ours and restarts it each time it ends, until `stop`. */
export function superviseProgram(plan: ChildPlan): SupervisedChild {
  let current: { process: ChildProcess; ended: Promise<void> } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isStopping = false;
  let isReplacing = false;
  let isPreloading = plan.preload !== undefined;

  function start(): void {
    const startedAt = performance.now();
    const child = spawn(process.execPath, plan.args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...plan.env(), ...(isPreloading && { PORTAL_PRELOAD: plan.preload }) },
      // Out of reach of the terminal's Ctrl-C: the supervisor decides the order in which processes end
      detached: process.platform !== 'win32',
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    current = { process: child, ended: promise };
    child.on('message', (message) => {
      if (isReady(message)) plan.onReady(message.url ?? null);
    });
    child.once('error', (error) => end(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => end(`ended (${signal ?? `exit code ${code}`})`, code));

    function end(what: string, code: number | null = null): void {
      if (current?.process !== child) return;
      current = null;
      resolve();
      // A program that ended while it was preloaded starts again with `begin`, and its failure shows then
      if (isStopping || isPreloading) return;
      if (code === wrongSettingsExit) {
        plan.onWrongSettings();
        return;
      }
      if (isReplacing) {
        isReplacing = false;
        start();
        return;
      }
      failures = failuresInRow(failures, performance.now() - startedAt);
      const pauseMs = restartPauseMs(failures);
      plan.say(`The ${plan.name} ${what}. Restarting it in ${pauseMs / 1000} s.`);
      timer = setTimeout(start, pauseMs);
    }
  }

  function kill(): void {
    const pid = current?.process.pid;
    if (pid === undefined) return;
    try {
      // The whole process group: under --watch the program is a child of the watcher
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    } catch {
      // It has already ended
    }
  }

  start();
  return {
    begin() {
      isPreloading = false;
      if (current) current.process.send(plan.env(), () => {});
      else start();
    },
    replace() {
      if (!current || isPreloading) return;
      isReplacing = true;
      current.process.kill('SIGTERM');
    },
    async stop(graceMs) {
      isStopping = true;
      clearTimeout(timer);
      if (!current) return;
      const { process: child, ended } = current;
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => {
        plan.say(`The ${plan.name} did not end within ${graceMs / 1000} s. Killing it.`);
        kill();
      }, graceMs);
      await ended;
      clearTimeout(killTimer);
    },
    kill,
  };
}

function isReady(message: unknown): message is { type: 'ready'; url?: string } {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
