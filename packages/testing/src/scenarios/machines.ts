import { setTimeout as pause } from 'node:timers/promises';
import { countCalls, type Disturbance, type StepFigures } from './machines-calls.ts';
import { type House, machines, startHouse } from './machines-house.ts';
import { type Checked, startLoad } from './machines-load.ts';

interface Step extends Disturbance {
  name: string;
  act(house: House): Promise<void>;
}

/** What a failover manager needs to notice that a server is gone. */
const noticeMs = 1_000;

const killApi = (machine: 'a' | 'b'): Step => ({
  name: `API ${machine} killed`,
  breaksConnections: true,
  act: (house) => house.killProgram('api', machine),
});
const killWorker = (machine: 'a' | 'b'): Step => ({
  name: `worker ${machine} killed`,
  repeatsMails: true,
  act: (house) => house.killProgram('worker', machine),
});
const killHaproxy = (machine: 'a' | 'b'): Step => ({
  name: `HAProxy ${machine} killed`,
  breaksConnections: true,
  // The worker of that machine reaches PostgreSQL through it.
  repeatsMails: true,
  async act({ haproxy }) {
    await haproxy[machine].kill();
    await pause(noticeMs);
    await haproxy[machine].start();
  },
});
const failOver: Step = {
  name: 'PostgreSQL killed, standby promoted',
  repeatsMails: true,
  async act({ postgres }) {
    postgres.killPrimary();
    await pause(noticeMs);
    await postgres.promote();
    await postgres.rejoin();
  },
};
const failOverRedis: Step = {
  name: 'Redis killed, replica promoted by Sentinel',
  act: ({ redis }) => redis.killPrimary(),
};
const restartFiles: Step = {
  name: 'file store killed',
  async act({ files }) {
    await files.halt();
    await pause(noticeMs);
    await files.resume();
  },
};
const upgrade: Step = {
  name: 'database migrated, each program replaced',
  async act(house) {
    await house.upgrade();
    for (const app of ['api', 'worker'] as const)
      for (const machine of machines) await house.replaceProgram(app, machine);
  },
};

/** Each kind of loss once. */
export const shortRun: readonly Step[] = [
  killApi('a'),
  killWorker('b'),
  failOver,
  failOverRedis,
  restartFiles,
  upgrade,
];

/** The loss of every process, and what operators do on purpose. */
export const longRun: readonly Step[] = [
  ...machines.map(killApi),
  ...machines.map(killWorker),
  ...machines.map(killHaproxy),
  {
    name: 'both HAProxy reloaded',
    async act({ haproxy }) {
      for (const machine of machines) await haproxy[machine].reload();
    },
  },
  failOver,
  {
    name: 'PostgreSQL switched over',
    repeatsMails: true,
    async act({ postgres }) {
      await postgres.switchOver();
      await postgres.rejoin();
    },
  },
  {
    name: 'standby of PostgreSQL killed',
    async act({ postgres }) {
      postgres.killStandby();
      await pause(noticeMs);
      await postgres.goOnAlone();
      await postgres.rejoin();
    },
  },
  failOverRedis,
  { name: 'replica of Redis killed', act: ({ redis }) => redis.killReplica() },
  { name: 'a sentinel killed', act: ({ redis }) => redis.killSentinel() },
  restartFiles,
  upgrade,
];

export interface MachinesResult {
  steps: StepFigures[];
  checked: Checked;
  violations: string[];
}

/**
 * Runs two machines under load and ends their processes and servers one after the other. Nothing that was confirmed is lost or done twice,
 * and callers get no other refusal than 503 with `Retry-After`.
 */
export async function runMachines(options: {
  steps: readonly Step[];
  /** Time without trouble before the first step and after each. */
  calmMs: number;
  /** The release that runs before the upgrade; this checkout by default. */
  from?: URL;
  /** Folder for the logs of the programs. */
  logs?: string | undefined;
  say: (line: string) => void;
}): Promise<MachinesResult> {
  const house = await startHouse(options);
  try {
    const calls = countCalls({ a: house.haproxy.a.port, b: house.haproxy.b.port });
    calls.begin('arranging');
    const load = await startLoad(house, calls);
    calls.begin('nothing happens');
    await pause(options.calmMs);
    for (const { name, act, ...disturbance } of options.steps) {
      options.say(name);
      calls.begin(name, disturbance);
      await act(house).catch((error: unknown) => calls.violations.add(`${name}: ${String(error)}`));
      await pause(options.calmMs);
    }
    await load.stop();
    calls.begin('afterwards');
    options.say('comparing');
    const checked = await load.check();
    const steps = calls.steps.slice(1, -1);
    const violations = [...calls.violations, ...checked.violations];
    for (const program of house.crashed) violations.push(`${program} ended by itself`);
    for (const { name, succeeded } of steps) if (succeeded === 0) violations.push(`${name}: no call succeeded`);
    return { steps, checked, violations };
  } finally {
    await house.close();
  }
}
