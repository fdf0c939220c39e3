import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { upgradeFromTheFirst } from '@portal/testing/scenarios/upgrade';
import { startTestServer } from '@portal/testing/server';
import { migrationsFolder } from '../src/migrations.ts';

// The long form, with a million rows, is `pnpm soak upgrade`.
it('the first release keeps working during and after the migration to this release', async () => {
  const server = await startTestServer();
  try {
    const { violations } = await upgradeFromTheFirst({ url: server.url, rows: 20_000, say: () => undefined });
    expect(violations).toEqual([]);
  } finally {
    await server.stop();
  }
});

/** Takes away what statements of the release before name, or demands what they do not write. */
const breaking =
  /\bdrop (?:table|column|default)\b|\brename\b|\bset data type\b|\bset not null\b|\badd column\b(?!.*\bdefault\b).*\bnot null\b/i;

it('no migration takes away what the release before uses, except before the first release', async () => {
  const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql')).toSorted();
  const found: string[] = [];
  for (const name of files) {
    const statements = (await readFile(join(migrationsFolder, name), 'utf8')).split('--> statement-breakpoint');
    if (statements.some((statement) => breaking.test(statement))) found.push(name);
  }
  // To remove something, stop using it in one release and remove it in the next; then add that migration here.
  expect(found).toEqual([
    '0024_status-documents.sql',
    '0037_directory-without-snapshot.sql',
    // Takes nothing away: only the collation of its columns changes.
    '0042_directory-ids-by-bytes.sql',
  ]);
});
