import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';

const maxMs = 600_000;

/** Starts a mail server that takes 20 ms for each mail and counts the mails. */
export async function startCountingServer() {
  let [received, lastReceivedAt] = [0, 0];
  const smtp = await startSmtpServer({
    delayMs: 20,
    onMessage: () => {
      received += 1;
      lastReceivedAt = Date.now();
    },
  });
  return {
    messages: smtp.messages,
    stop: smtp.stop,
    /** Settings for apps that send `count` mails over it. */
    settings: (count: number): Record<string, string> => ({
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(smtp.port),
      SMTP_SECURITY: 'none',
      SMTP_FROM: 'portal@example.org',
      MAIL_DAILY_PER_TENANT: String(100 * count),
    }),
    /** Waits until it has received `target` mails in all. Returns the time of the last one. */
    async untilReceived(target: number): Promise<number> {
      const deadline = Date.now() + maxMs;
      while (received < target) {
        if (Date.now() > deadline) throw new Error(`only ${received} of ${target} mails came`);
        await pause(20);
      }
      return lastReceivedAt;
    },
    /**
     * Sends mails without Portal, with the content in a file if one is given. If a database is given, also reads and settles its digests.
     * Returns the milliseconds from the first mail to the last answer.
     */
    async sendRaw(count: number, ...more: [contentFile?: string, databaseUrl?: string]): Promise<number> {
      const before = received;
      const args = [String(smtp.port), String(count), ...more.filter((each) => each !== undefined)];
      const sender = spawn(process.execPath, ['bench/raw-sender.ts', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const ended = once(sender, 'exit');
      while (received === before && sender.exitCode === null) await pause(1);
      const startedAt = Date.now();
      await ended;
      if (received - before < count) throw new Error(`only ${received - before} of ${count} mails came`);
      return Date.now() - startedAt;
    },
  };
}
