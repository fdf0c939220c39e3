import { describe, expect, it } from 'vitest';
import { boundaryFaults, sourceFile } from './boundaries.ts';

const faultsOf = (files: Record<string, string>): string[] =>
  boundaryFaults(Object.entries(files).map(([path, text]) => sourceFile(path, text)));

it('finds no fault in the current tree', () => {
  expect(boundaryFaults()).toEqual([]);
});

it.each<[string, string, string, string | null]>([
  [
    'the domain from the database',
    'packages/domain/src/ids.ts',
    '@portal/db/open',
    'packages/domain may import nothing',
  ],
  [
    'a platform from a use case',
    'packages/platform/src/log.ts',
    '@portal/usecases/areas',
    'packages/platform may import',
  ],
  ['an app from the database', 'apps/api/src/app.ts', '@portal/db/open', 'apps/api may import'],
  ['a use case from an app', 'packages/usecases/src/tenants/a.ts', '@portal/api/app', 'an app must not be imported'],
  ['a test from an app', 'packages/usecases/src/tenants/a.test.ts', '@portal/api/app', 'an app must not be imported'],
  ['a relative path out of a package', 'packages/db/src/open.ts', '../../mail/src/frame.ts', 'packages/db may import'],
  ['a script', 'packages/testing/src/worker.ts', '../../../scripts/seed.ts', 'a program must not be imported'],
  ['a benchmark', 'apps/api/test/a.test.ts', '../../../bench/run.ts', 'a program must not be imported'],
  ['a soak', 'apps/worker/src/a.ts', '../../../soak/run.ts', 'a program must not be imported'],
  [
    'the domain from a page',
    'apps/web/src/reminders/due.tsx',
    '@portal/domain/ids',
    'apps/web may import packages/client, types of packages/domain',
  ],
  ['the platform from a page', 'apps/web/src/portal.ts', '@portal/platform/log', 'apps/web may import'],
  ['a page from an app', 'apps/api/src/app.ts', '@portal/web/routes', 'an app must not be imported'],
  [
    'a script from a browser test',
    'apps/web/test/a.ts',
    '../../../scripts/web-build.ts',
    'a program must not be imported',
  ],
  ['the client from a page', 'apps/web/src/portal.tsx', '@portal/client/client', null],
  ['the domain from the test of a page', 'apps/web/src/reminders/due.test.ts', '@portal/domain/ids', null],
  ['the platform from a browser test', 'apps/web/test/open-app.ts', '@portal/testing/make', null],
  ['the domain from a use case', 'packages/usecases/src/tenants/a.ts', '@portal/domain/ids', null],
  ['the database from a test', 'apps/api/test/a.test.ts', '@portal/db/open', null],
  ['another package', 'packages/domain/src/ids.ts', 'zod', null],
])('judges an import of %s', (_what, path, target, fault) => {
  for (const text of [`import { a } from '${target}';`, `await import('${target}');`, `import '${target}';`])
    expect(faultsOf({ [path]: text })).toEqual(fault === null ? [] : [expect.stringContaining(fault)]);
});

describe('a page', () => {
  const path = 'apps/web/src/reminders/reminders-page.tsx';
  const fault = expect.stringContaining('apps/web may import packages/client, types of packages/domain');

  it('may import types of the domain', () => {
    for (const text of [
      "import type { Reminder } from '@portal/domain/reminders/reminder';",
      "import { a } from './a.ts';\nimport type {\n  Reminder,\n  Due,\n} from '@portal/domain/reminders/reminder';",
      "export type { Reminder } from '@portal/domain/reminders/reminder';",
    ])
      expect(faultsOf({ [path]: text })).toEqual([]);
  });

  it('may not import the types of another package, nor a value beside a type', () => {
    expect(faultsOf({ [path]: "import type { Log } from '@portal/platform/log';" })).toEqual([fault]);
    // The compiler keeps this import for its effects
    expect(faultsOf({ [path]: "import { type Reminder } from '@portal/domain/ids';" })).toEqual([fault]);
    const both = "import type { A } from '@portal/domain/ids';\nimport { a } from '@portal/domain/ids';";
    expect(new Set(faultsOf({ [path]: both }))).toEqual(new Set([fault]));
  });
});

const area = (name: string, file = 'a') => `packages/usecases/src/${name}/${file}.ts`;

it('names a cycle of areas once, with its imports', () => {
  const files = {
    [area('accounts')]: "import { b } from '../tenants/a.ts';",
    [area('tenants')]: "import { b } from '../modules/a.ts';",
    [area('modules', 'deep/a')]: "import { b } from '../../accounts/a.ts';",
    [area('audit')]: "import { b } from '../accounts/a.ts';",
  };
  expect(faultsOf(files)).toEqual([
    `accounts → tenants → modules → accounts is a cycle: ${area('accounts')} imports ${area('tenants')}; ${area(
      'tenants',
    )} imports ${area('modules')}; ${area('modules', 'deep/a')} imports ${area('accounts')}`,
  ]);
  expect(faultsOf({ ...files, [area('modules', 'deep/a')]: '' })).toEqual([]);
  expect(
    faultsOf({ ...files, [area('modules', 'deep/a')]: '', [area('modules', 'a.test')]: "import '../accounts/a.ts';" }),
  ).toEqual([]);
});

it('finds every cycle, also those that share an area', () => {
  const faults = faultsOf({
    [area('dashboards')]: "import '../accounts/a.ts'; import '../modules/a.ts';",
    [area('accounts')]: "import '../dashboards/a.ts';",
    [area('modules')]: "import '../dashboards/a.ts';",
  });
  expect(faults.map((fault) => fault.split(' is ')[0])).toEqual([
    'accounts → dashboards → accounts',
    'dashboards → modules → dashboards',
  ]);
});

const users = "import { sessions, users as people } from '@portal/db/schema/accounts/users';\n";
it.each([
  'tx.insert(people).values(row)',
  'tx\n.update(people)\n.set(row)',
  'tx.delete(people)',
  'sql`insert into ${people} (id)`',
  'sql`update ${people} u set a = 1`',
  'sql`delete from ${people}`',
])("names a write into another area's table: %j", (write) => {
  const fault = 'writes people, which belongs to accounts';
  for (const path of [area('directory'), 'packages/platform/src/log.ts'])
    expect(faultsOf({ [path]: users + write })).toEqual([`${path} ${fault}`]);
  expect(faultsOf({ [area('accounts')]: users + write })).toEqual([]);
  expect(faultsOf({ [area('directory', 'a.test')]: users + write })).toEqual([]);
});

it('lets an area read the tables of another', () => {
  expect(faultsOf({ [area('directory')]: `${users} tx.select().from(people)` })).toEqual([]);
});
