import { array, assert, asyncProperty, constantFrom, nat, oneof, record } from 'fast-check';
import { customModules, moduleCategories } from '@portal/db/schema/modules';
import { PortalError } from '@portal/domain/errors';
import { customModulesKey } from '@portal/domain/modules/categories';
import { modules } from '@portal/domain/modules/modules';
import { readConfig } from '@portal/platform/config';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime, type Runtime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import {
  assignModule,
  createCategory,
  deleteCategory,
  listCategories,
  renameCategory,
  setCategoryOrder,
} from '@portal/usecases/modules/categories';
import {
  createCustomModule,
  deleteCustomModule,
  listCustomModules,
  updateCustomModule,
} from '@portal/usecases/modules/custom-modules';
import { builders } from '../make.ts';

export interface ArrangeResult {
  /** Each round makes a handful of concurrent calls and then checks the result. */
  rounds: number;
  done: number;
  /** Calls that came too late or were invalid: 400, 404, 409. */
  refused: number;
}

interface ArrangeOptions {
  databaseUrl: string;
  rounds: number;
  say: (line: string) => void;
}

const roundsPerTenant = 5;

/** Numbers pick from the keys and ids at the beginning of a round; concurrent calls may delete these. */
const calls = oneof(
  record({ call: constantFrom('order' as const), shuffle: array(nat(), { minLength: 12, maxLength: 12 }) }),
  record({ call: constantFrom('delete' as const), category: nat(), target: nat() }),
  record({
    call: constantFrom('create' as const),
    name: constantFrom('Lager', 'LAGER', 'Küche', 'Büro', 'Werk', 'Werk 2'),
  }),
  record({ call: constantFrom('rename' as const), category: nat(), name: constantFrom('Lager', 'Halle', 'Sport') }),
  record({
    call: constantFrom('assign' as const),
    category: nat(),
    module: constantFrom(...modules.map(({ key }) => key)),
  }),
  record({ call: constantFrom('add' as const), category: nat(), who: nat(), shared: constantFrom(true, false) }),
  record({ call: constantFrom('move' as const), category: nat(), who: nat(), entry: nat() }),
  record({ call: constantFrom('remove' as const), who: nat(), entry: nat() }),
);
type Call = typeof calls extends { generate: (...args: never[]) => { value: infer Value } } ? Value : never;

/**
 * Arranges categories of many tenants by random concurrent calls. Throws if positions have a gap, a module is lost or a call fails
 * unexpectedly.
 */
export async function arrangeAtRandom({ databaseUrl, rounds, say }: ArrangeOptions): Promise<ArrangeResult> {
  const runtime = openRuntime(
    readConfig({
      DATABASE_URL: databaseUrl,
      SESSION_SECRET: `soak:${Buffer.alloc(32).toString('base64')}`,
      SECRETS_KEYS: `soak:${Buffer.alloc(32, 1).toString('base64')}`,
    }),
    { process: 'script', log: openLog('silent', 'script') },
  );
  const result: ArrangeResult = { rounds: 0, done: 0, refused: 0 };

  async function round(people: UserContext[], round: Call[]): Promise<void> {
    const before = await readState(people);
    const outcomes = await Promise.allSettled(round.map((call) => perform(people, before, call)));
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') result.done += 1;
      else if (isRefusal(outcome.reason)) result.refused += 1;
      else throw new Error(`${round[n]?.call} failed unexpectedly`, { cause: outcome.reason });
    }
    const change = (call: Call['call']) =>
      round.filter((one, n) => one.call === call && outcomes[n]?.status === 'fulfilled').length;
    await check(people, before.entries.length + change('add') - change('remove'));
    result.rounds += 1;
    if (result.rounds % 1_000 === 0)
      say(`${result.rounds} rounds, ${result.done} calls done, ${result.refused} refused`);
  }

  try {
    await assert(
      asyncProperty(
        array(array(calls, { minLength: 2, maxLength: 6 }), {
          minLength: roundsPerTenant,
          maxLength: roundsPerTenant,
          size: 'max',
        }),
        async (batches) => {
          const people = await peopleOfOneTenant(runtime);
          for (const batch of batches) await round(people, batch);
        },
      ),
      // The outcome of concurrent calls is not reproducible, so there is nothing to shrink.
      { numRuns: Math.ceil(rounds / roundsPerTenant), endOnFailure: true },
    );
    return result;
  } finally {
    await runtime.close();
  }
}

/** Two administrators of a new tenant. */
async function peopleOfOneTenant(runtime: Runtime): Promise<UserContext[]> {
  const make = builders(runtime.database);
  const { id: tenantId } = await make.tenant();
  return Promise.all(
    [1, 2].map(async () => {
      const user = await make.user({ tenantId, role: 'ADMIN' });
      const session = await make.session(user);
      const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
      return authenticate(
        system,
        sessionTokens(system).issue({ sub: user.id, tid: tenantId, sid: session.id, ver: 1 }),
      );
    }),
  );
}

interface State {
  keys: string[];
  /** All custom modules, each with the people who may change it. */
  entries: { id: string; category: string; by: UserContext[] }[];
}

async function readState(people: UserContext[]): Promise<State> {
  const [first] = people;
  if (!first) throw new Error('there are no people');
  const lists = await Promise.all(people.map(async (ctx) => ({ ctx, list: await listCustomModules(ctx) })));
  const entries = new Map<string, State['entries'][number]>();
  for (const { ctx, list } of lists) {
    for (const { id, category } of list) {
      const by = entries.get(id)?.by ?? [];
      entries.set(id, { id, category, by: [...by, ctx] });
    }
  }
  return { keys: (await listCategories(first)).map(({ key }) => key), entries: [...entries.values()] };
}

const pick = <T>(list: readonly T[], n: number): T => {
  const chosen = list[n % list.length];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
};

async function perform(people: UserContext[], { keys, entries }: State, call: Call): Promise<unknown> {
  const ctx = pick(people, 'who' in call ? call.who : 0);
  const entry = 'entry' in call && entries.length > 0 ? pick(entries, call.entry) : null;
  switch (call.call) {
    case 'order':
      return setCategoryOrder(
        ctx,
        keys.toSorted((a, b) => (call.shuffle[keys.indexOf(a)] ?? 0) - (call.shuffle[keys.indexOf(b)] ?? 0)),
      );
    case 'delete':
      return deleteCategory(ctx, pick(keys, call.category), pick(keys, call.target));
    case 'create':
      return createCategory(ctx, call);
    case 'rename':
      return renameCategory(ctx, pick(keys, call.category), call);
    case 'assign':
      return assignModule(ctx, { moduleKey: call.module, categoryKey: pick(keys, call.category) });
    case 'add':
      return createCustomModule(ctx, {
        name: 'Wiki',
        url: 'https://wiki.example.org/',
        category: pick(keys, call.category),
        shared: call.shared,
        sortOrder: 0,
      });
    case 'move':
      return entry && updateCustomModule(pick(entry.by, call.who), entry.id, { category: pick(keys, call.category) });
    case 'remove':
      if (!entry) throw new PortalError('NOT_FOUND', 'There is nothing to remove.');
      return deleteCustomModule(pick(entry.by, call.who), entry.id);
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof PortalError && ['invalid', 'not_found', 'conflict'].includes(error.kind);

/** Throws unless positions have no gap, `custom-modules` is last, and every module is in exactly one category. */
async function check(people: UserContext[], entryCount: number): Promise<void> {
  const [first] = people;
  if (!first) throw new Error('there are no people');
  const [rows, categories, count] = await Promise.all([
    first.read((db) =>
      db
        .select({ key: moduleCategories.key, position: moduleCategories.position })
        .from(moduleCategories)
        .orderBy(moduleCategories.position),
    ),
    listCategories(first),
    first.read((db) => db.$count(customModules)),
  ]);
  const problems = [
    rows.some(({ position }, n) => position !== n) && 'the positions have a gap',
    rows.at(-1)?.key !== customModulesKey && 'custom-modules is not last',
    String(categories.map(({ key }) => key)) !== String(rows.map(({ key }) => key)) && 'the list has another order',
    String(categories.flatMap(({ moduleKeys }) => moduleKeys).toSorted()) !==
      String(modules.map(({ key }) => key).toSorted()) && 'a module is not in exactly one category',
    count !== entryCount && `there are ${count} custom modules instead of ${entryCount}`,
    // A custom module whose category was deleted would be missing here.
    (await readState(people)).entries.length !== entryCount && 'a custom module has no category',
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new Error(`${problems.join(', ')}: ${JSON.stringify({ rows, categories })}`);
}
