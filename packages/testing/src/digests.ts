import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

/** A digest of each table and the value of each sequence. */
export async function digestOfDatabase(ownerUrl: string): Promise<Record<string, string>> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const digests: Record<string, string> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ digest: string }>(
        `select count(*) || ' ' || md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as digest from ${name} t`,
      );
      digests[name] = rows[0]?.digest ?? '';
    }
    const { rows: sequences } = await client.query<{ name: string; value: string | null }>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences order by 1`,
    );
    for (const { name, value } of sequences) digests[name] = value ?? 'unused';
    return digests;
  } finally {
    await client.end();
  }
}

/** A digest of each file below a folder, without the files that PostgreSQL itself writes. */
export async function digestOfFiles(at: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const entry of await readdir(at, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(at.length + 1);
    if (/^(postgres\/data|lock)(\/|$)|^postgres\/.*\.log/.test(name)) continue;
    const { mode, uid } = await stat(path);
    const hash = createHash('sha256');
    if (entry.isFile()) for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    if (entry.isSymbolicLink()) hash.update(await readlink(path));
    digests[name] = `${mode.toString(8)} ${uid} ${hash.digest('hex')}`;
  }
  return digests;
}
