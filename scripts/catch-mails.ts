// node scripts/catch-mails.ts [PORT] — takes every mail sent to this port of 127.0.0.1 (1025) and prints it; passes none on.
import { startSmtpServer } from '@portal/testing/servers/smtp-server';

const port = Number(process.argv[2] ?? 1025);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error('Usage: node scripts/catch-mails.ts [PORT]');
  process.exit(2);
}

const server = await startSmtpServer({
  port,
  onMessage: ({ envelopeTo, subject, text }) =>
    console.log(`To: ${envelopeTo.join(', ')}\nSubject: ${subject}\n\n${text.trim()}\n`),
});
console.log(
  `Waiting for mails at ${server.url}. Give the service SMTP_HOST=127.0.0.1 SMTP_PORT=${server.port} SMTP_SECURITY=none and SMTP_FROM.\n`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop());
