import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

// Requests reminders and notices at a steady rate and reports the milliseconds of each call, until its parent disconnects.
const perSecond = 50;
const [url, ...cookies] = process.argv.slice(2);
const paths = ['/reminders', '/reminders/notifications', '/auth/me', '/reminders?state=due'];
const agent = new Agent({ keepAlive: true, maxSockets: 20 });

const call = (path: string, cookie: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    get(`${url}${path}`, { agent, headers: { cookie } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} answered ${answer.statusCode}`));
      answer.resume().once('end', () => resolve(performance.now() - startedAt));
    }).once('error', reject);
  });

let isOver = false;
process.once('disconnect', () => (isOver = true));
for (let n = 0; !isOver; n += 1) {
  void call(paths[n % paths.length] ?? '', cookies[n % cookies.length] ?? '').then(
    (ms) => process.connected && process.send?.({ ms }),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
  await pause(1_000 / perSecond);
}
agent.destroy();
