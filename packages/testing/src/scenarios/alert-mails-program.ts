// Program: reads the due alert mailboxes until it is killed.
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { fetchAlertMails } from '@portal/usecases/tenders/jobs';
import { fetchAlertMailsOf } from '@portal/usecases/tenders/mailbox/fetch-mails';
import { startDueAlertMails } from '@portal/usecases/tenders/mailbox/start-due-fetches';

const runtime = openRuntime(readConfig(process.env), { process: 'worker', log: openLog('silent', 'worker') });
const origin = { requestId: 'soak', ip: null, userAgent: null };
// The parent has ended.
process.on('disconnect', () => process.exit());

for (;;) {
  const due: { tenantId: string; userId: string }[] = [];
  await startDueAlertMails({
    ...runtime.system(origin),
    enqueue: async (_job, payload) => void due.push(fetchAlertMails.payload.parse(payload)),
  });
  for (const { tenantId, userId } of due) {
    const ctx = { ...runtime.tenant(origin, tenantId), enqueue: async () => undefined };
    await fetchAlertMailsOf(ctx, userId, { signal: new AbortController().signal });
  }
  await pause(30);
}
