import { readFileSync } from 'node:fs';
import { openTransport } from '@portal/mail/transport';
import { plainDial } from '@portal/testing/servers/plain-dial';

// Sends as many mails as it is told over ten pooled connections and nothing else; the third argument is a file with what they say.
const [port, count] = process.argv.slice(2, 4).map(Number);
const file = process.argv[4];
const said =
  file === undefined
    ? { subject: 'Erinnerung: Reminder', text: 'Sie wollten erinnert werden.\n'.repeat(10) }
    : (JSON.parse(readFileSync(file, 'utf8')) as { subject: string; text: string; html: string });
const transport = openTransport(
  {
    host: '127.0.0.1',
    port: port ?? 0,
    security: 'none',
    username: null,
    password: null,
    fromAddress: 'portal@example.org',
    fromName: null,
    replyTo: null,
    verifyTls: true,
    dial: plainDial,
  },
  { maxConnections: 10 },
);
let sent = 0;
await Promise.all(
  Array.from({ length: 20 }, async () => {
    while (sent < (count ?? 0)) {
      sent += 1;
      await transport.send({
        to: { address: `person-${sent}@example.org`, name: 'Person' },
        ...said,
        subject: `${said.subject} ${sent}`,
        messageId: `<${sent}@example.org>`,
      });
    }
  }),
);
transport.close();
