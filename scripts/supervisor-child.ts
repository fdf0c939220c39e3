import { type ChildProcess, spawn } from 'node:child_process';
import { wrongSettingsExit } from '@portal/platform/exit-codes';
import { failuresInRow, restartPauseMs } from './supervisor-pause.ts';

export interface ChildPlan {
  /** For people: `API`, `worker`. */
  name: string;
  /** What Node is called with. */
  args: readonly string[];
  /** Asked before each start. */
  env: () => NodeJS.ProcessEnv;
  onReady: (url: string | null) => void;
  onWrongSettings: () => void;
  say: (line: string) => void;
}

export interface KeptChild {
  /** Ends it kindly so that it starts again at once with fresh settings. */
  replace(): void;
  /** Asks it to end, kills it when the time is over, and keeps it ended. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

/** Starts a program of ours and starts it again whenever it ends, until it is stopped. */
export function keepRunning(plan: ChildPlan): KeptChild {
  let current: { process: ChildProcess; ended: Promise<void> } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isStopping = false;
  let isReplacing = false;

  function start(): void {
    const startedAt = performance.now();
    const child = spawn(process.execPath, plan.args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: plan.env(),
      // Out of reach of the terminal's Ctrl-C: who ends first is decided here
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
      if (isStopping) return;
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
      plan.say(`The ${plan.name} ${what}. It is started again in ${pauseMs / 1000} s.`);
      timer = setTimeout(start, pauseMs);
    }
  }

  function kill(): void {
    const pid = current?.process.pid;
    if (pid === undefined) return;
    try {
      // The whole group: under --watch the program is a child of the watcher
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    } catch {
      // It ended just now
    }
  }

  start();
  return {
    replace() {
      if (!current) return;
      isReplacing = true;
      current.process.kill('SIGTERM');
    },
    async stop(graceMs) {
      isStopping = true;
      clearTimeout(timer);
      if (!current) return;
      const { process: child, ended } = current;
      child.kill('SIGTERM');
      const patience = setTimeout(() => {
        plan.say(`The ${plan.name} did not end within ${graceMs / 1000} s and is killed.`);
        kill();
      }, graceMs);
      await ended;
      clearTimeout(patience);
    },
    kill,
  };
}

function isReady(message: unknown): message is { type: 'ready'; url?: string } {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}
