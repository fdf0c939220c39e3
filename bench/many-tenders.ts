import { readFile } from 'node:fs/promises';
import { Pool } from 'pg';
import { laender } from '@portal/domain/tenders/laender';
import { searchDocumentOf } from '@portal/usecases/tenders/search-document';

/** The same numbers on every run. */
function* numbers(): Generator<number, never> {
  let state = 12_345;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state / 2 ** 32;
  }
}
const random = numbers();
const upTo = (count: number): number => Math.floor(random.next().value * count);

/** Fills a migrated database with that many tenders of three years: 50,000 different ones, repeated. */
export async function fillWithTenders(url: string, size: number): Promise<void> {
  const labels = (await readFile(new URL('../packages/usecases/src/tenders/cpv-labels.txt', import.meta.url), 'utf8'))
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => ({ code: line.slice(0, 8), label: line.slice(9) }));
  const some = (count: number) =>
    Array.from(
      { length: count },
      () => labels[Math.floor(labels.length * random.next().value ** 2)] ?? { code: '45000000', label: '' },
    );
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(`insert into tender_sources (key) values ('ted'), ('oeffentlichevergabe'), ('bund')`);
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where tablename in ('tender_search', 'tender_notices') and indexdef not like '%UNIQUE%'`,
  );
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  await pool.query(`
    create unlogged table made (title text, description text, "buyerName" text, "cpvCodes" text[], "nutsCodes" text[], bundeslaender text[],
      "isNationwide" boolean, form text, divisions text[], "sourcePortal" text, document tsvector)`);
  const [batch, different] = [2_500, Math.min(size, 50_000)];
  for (let done = 0; done < different; done += batch) {
    const rows = Array.from({ length: Math.min(batch, different - done) }, () => {
      const [main, ...others] = some(1 + upTo(3));
      const code = main?.code ?? '45000000';
      const form = (['competition', 'competition', 'competition', 'result', 'planning'] as const)[upTo(5)] ?? null;
      const notice = {
        sourcePortal: ['ted', 'oeffentlichevergabe', 'oeffentlichevergabe', 'bund'][upTo(4)] ?? 'ted',
        title: `${main?.label} ${some(1)[0]?.label}`.slice(0, 500),
        description: some(4 + upTo(6))
          .map(({ label }) => label)
          .join('. '),
        buyerName: `Stadt Musterhausen ${upTo(5_000)}`,
        cpvCodes: [code, ...others.map((other) => other.code)],
        nutsCodes: [`DE${upTo(9) + 1}${upTo(4)}${upTo(9)}`],
        bundeslaender: [laender[upTo(laender.length)] ?? 'NW'],
        isNationwide: upTo(50) === 0,
        form,
        procedureType: 'open',
        nature: 'services' as const,
        lots: [],
      };
      const divisions = [...new Set(notice.cpvCodes.map((one) => one.slice(0, 2)))];
      return { ...notice, ...searchDocumentOf(notice), divisions };
    });
    await pool.query(
      `insert into made
       select title, description, "buyerName", "cpvCodes", "nutsCodes", bundeslaender, "isNationwide", form, divisions, "sourcePortal",
         setweight(to_tsvector('german', text_a), 'A') || setweight(to_tsvector('german', text_b), 'B') || setweight(to_tsvector('german', text_c), 'C')
         || setweight(to_tsvector('german', text_d), 'D') || setweight(to_tsvector('german', parts), 'D') || array_to_tsvector(markers)
       from json_to_recordset($1::json) r (title text, description text, "buyerName" text, "cpvCodes" text[], "nutsCodes" text[],
         bundeslaender text[], "isNationwide" boolean, form text, divisions text[], "sourcePortal" text,
         text_a text, text_b text, text_c text, text_d text, parts text, markers text[])`,
      [JSON.stringify(rows)],
    );
  }
  // Repeats each of them over three years, the earliest first, in order of publication.
  await pool.query('select setseed(0.5)');
  for (let done = 0; done < size; done += different) {
    await pool.query(
      `with aged as (select made.*, gen_random_uuid() as id, 1095 * (1 - ($2::float + random()) / $3::float) as age from made limit $1),
       r as materialized (
         select aged.*, form = 'competition' and age < 40 as open, date_trunc('milliseconds', now() - age * interval '1 day') as at,
           date_trunc('milliseconds', now() + (40 - age) * interval '1 day') as due from aged order by age desc),
       tender as (insert into tenders (id) select id from r),
       notice as (
         insert into tender_notices (id, tender_id, is_primary, source_key, is_public, notice_key, source_notice_id, notice_version, portal_ids, is_correction,
           is_cancelled, form, procedure_type, title, description, buyer_name, buyer_city, cpv_codes, cpv_divisions, nuts_codes, bundeslaender, bundesland, is_nationwide,
           published_at, deadlines, lots, hash)
         select gen_random_uuid(), id, true, "sourcePortal", true, id::text, id::text, 1, '{}', false, false, form, 'open', title, description, "buyerName", 'Musterhausen',
           "cpvCodes", divisions, "nutsCodes", bundeslaender, bundeslaender[1], "isNationwide", at, '[]', '[]', '' from r)
       insert into tender_search (tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender, is_nationwide,
         cpv_divisions, titles, document)
       select id, at, due, false, due, open, array["sourcePortal"], bundeslaender, "isNationwide", divisions, lower(title), document from r`,
      [size - done, done / different, Math.ceil(size / different)],
    );
    console.log(`${Math.min(done + different, size)} tenders`);
  }
  await pool.query(`set maintenance_work_mem = '512MB'`);
  for (const { definition } of indexes) await pool.query(definition);
  await pool.query('vacuum analyze');
  await pool.end();
}
