import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';

const maxMs = 600_000;

/** A mail server that takes 20 ms for each mail and counts them. */
export async function startCountingServer() {
  let [taken, lastTakenAt] = [0, 0];
  const smtp = await startSmtpServer({
    delayMs: 20,
    onMessage: () => {
      taken += 1;
      lastTakenAt = Date.now();
    },
  });
  return {
    messages: smtp.messages,
    stop: smtp.stop,
    /** For apps that are to send so many mails over it. */
    settings: (count: number): Record<string, string> => ({
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(smtp.port),
      SMTP_SECURITY: 'none',
      SMTP_FROM: 'portal@example.org',
      MAIL_DAILY_PER_TENANT: String(100 * count),
    }),
    /** Waits until so many have come in all; answers when the last one came. */
    async untilTaken(target: number): Promise<number> {
      const deadline = Date.now() + maxMs;
      while (taken < target) {
        if (Date.now() > deadline) throw new Error(`only ${taken} of ${target} mails came`);
        await pause(20);
      }
      return lastTakenAt;
    },
    /**
     * Sends mails without Portal, what they say from a file, and reads and settles the digests of a database where one is given; answers
     * how long that took, in milliseconds, from the first mail to the last answer.
     */
    async sendRaw(count: number, ...more: [saidIn?: string, databaseUrl?: string]): Promise<number> {
      const before = taken;
      const args = [String(smtp.port), String(count), ...more.filter((each) => each !== undefined)];
      const sender = spawn(process.execPath, ['bench/raw-sender.ts', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const ended = once(sender, 'exit');
      while (taken === before && sender.exitCode === null) await pause(1);
      const startedAt = Date.now();
      await ended;
      if (taken - before < count) throw new Error(`only ${taken - before} of ${count} mails came`);
      return Date.now() - startedAt;
    },
  };
}
