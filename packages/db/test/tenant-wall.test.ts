import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testDatabase } from '@portal/testing/database';

const { ownerUrl } = await testDatabase();
const client = new Client({ connectionString: ownerUrl });
beforeAll(() => client.connect());
afterAll(() => client.end());

const [us, them, ourAccount, theirAccount] = [newId(), newId(), newId(), newId()];

interface Table {
  name: string;
  /** Whose a row is. */
  tenant: string;
  columns: Record<string, string>;
}

/** Rows of a table of the platform that nobody but their owner sees, as its policy says; the others hold what everybody sees. */
const hidden: Record<string, string> = {
  personal_tender_search: `insert into personal_tender_search (only_source) values ('feed:theirs')`,
};
