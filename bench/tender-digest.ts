// The digests of 2,000 people from the time they are due, against as many of the same mails over raw pooled SMTP; another number as argument
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { users } from '@portal/db/schema/accounts/users';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { noticeRecord } from '@portal/testing/tender-notices';
import { compiledColumns } from '@portal/usecases/tenders/alerts/compile-search';
import { matchNewTenders } from '@portal/usecases/tenders/alerts/match-tenders';
import { startDueAlerts } from '@portal/usecases/tenders/jobs';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { startCountingServer } from './mails-taken.ts';
import { benchDatabase, benchSettings, report, startWorker, stopAll } from './measure.ts';

const people = Number(process.argv[2] ?? 2_000);
/** In each digest. */
const tenders = 10;

const smtp = await startCountingServer();

try {
  const { url, folder } = await benchDatabase();
  const settings = {
    ...benchSettings(url, join(folder, 'data')),
    ...smtp.settings(people),
  };
  const runtime = openRuntime(readConfig(settings), { process: 'script', log: openLog('silent', 'script') });
  const system = runtime.system({ requestId: 'bench', ip: null, userAgent: null });
  const { id: tenantId } = await builders(runtime.database).tenant();
  const filters = TenderFilters.parse({ text: { all: ['kranwartung'] } });
  for (let done = 0; done < people; done += 500) {
    const accounts = Array.from({ length: Math.min(500, people - done) }, (_, n) => {
      const name = `person-${done + n}`;
      return { id: newId(), tenantId, username: name, email: `${name}@example.org`, role: 'ADMIN' as const };
    });
    await system.acrossTenants('the benchmark makes accounts and searches', async (tx) => {
      await tx.insert(users).values(accounts);
      await tx.insert(savedSearches).values(
        accounts.map(({ id: userId }) => {
          const owner = { id: newId(), tenantId, userId };
          return { ...owner, name: 'Krane', instantAlert: false, ...compiledColumns(filters) };
        }),
      );
    });
  }
  await storeNotices(
    system,
    Array.from({ length: tenders }, (_, n) => noticeRecord({ title: `Kranwartung am Hafen ${n}` })),
  );
  await matchNewTenders(system, new AbortController().signal);
  const worker = await startWorker(settings, join(folder, 'worker.log'));
  await pause(5_000); // It comes to rest.
  await system.acrossTenants('the benchmark lets a day pass', (tx) =>
    tx.update(tenderMatches).set({ matchedAt: sql`now() - interval '2 days'` }),
  );
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();
  const dueAt = Date.now();
  await system.enqueue(startDueAlerts, {});
  const oursMs = (await smtp.untilTaken(people)) - dueAt;
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  await runtime.close();

  const [mail] = smtp.messages;
  const file = join(folder, 'digest.json');
  await writeFile(file, JSON.stringify({ subject: mail?.subject, text: mail?.text, html: mail?.html }));
  const limitMs = await smtp.sendRaw(people, file);
  report(`${people.toLocaleString('en')} digests of ${tenders} tenders from their due time on`, {
    ours: oursMs / 1_000,
    limit: limitMs / 1_000,
    unit: 's',
    goal: 'at most 1.5',
  });
  const bareMs = await smtp.sendRaw(people, file, url);
  report('the same by a program that reads and settles the rows of each mail, and does nothing else', {
    ours: bareMs / 1_000,
    limit: limitMs / 1_000,
    unit: 's',
    goal: 'what is to be had here',
  });
} finally {
  await stopAll();
  await smtp.stop();
}
