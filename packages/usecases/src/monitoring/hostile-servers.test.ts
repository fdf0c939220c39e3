import { afterAll, expect, it } from 'vitest';
import { watchLoopPauses } from '@portal/testing/loop-pauses';
import { addServers, pollNow, serverForm } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { listServers } from './servers.ts';

const { make, signedIn } = await testRuntime();
const [hostile, good] = [await startVirtualizationServer(), await startVirtualizationServer()];
afterAll(() => Promise.all([hostile.switchOff(), good.switchOff()]));

it(
  '25 servers that answer up to the limit do not end the worker, and each gets a status',
  { timeout: 180_000 },
  async () => {
    const [theirs, other] = [
      await signedIn(await make.user({ role: 'ADMIN' })),
      await signedIn(await make.user({ role: 'ADMIN' })),
    ];
    const nodes = Array.from({ length: 160_000 }, (_, n) => `{"type":"node","node":"n${n}","status":"online"}`);
    const body = Buffer.from(`{"data":[${nodes.join()}]}`);
    let [asked, maxAsked] = [0, 0];
    hostile.intercept = (path, _request, response) => {
      if (path !== '/cluster/resources') return false;
      maxAsked = Math.max(maxAsked, (asked += 1));
      response.on('close', () => (asked -= 1));
      response.writeHead(200).end(body);
      return true;
    };
    await addServers(
      theirs,
      Array.from({ length: 25 }, () => serverForm(hostile)),
    );
    await addServers(other, [serverForm(good)]);
    const before = process.memoryUsage().rss;
    const pauses = watchLoopPauses();
    let rss = before;
    const timer = setInterval(() => {
      rss = Math.max(rss, process.memoryUsage().rss);
    }, 10);
    const polling = pollNow(theirs);
    await pollNow(other);
    expect((await listServers(other)).map(({ status }) => status.state)).toEqual(['ok']);
    await polling;
    clearInterval(timer);
    const statuses = (await listServers(theirs)).map(({ status }) => status);
    expect(statuses.filter(({ checkedAt }) => checkedAt === null)).toEqual([]);
    expect([...new Set(statuses.map(({ failure }) => failure))].filter((one) => one !== 'netz')).toEqual([
      'antwortform',
    ]);
    expect(maxAsked).toBeLessThanOrEqual(4);
    expect(pauses.stop()).toBeLessThan(500);
    expect((rss - before) / 1024 / 1024).toBeLessThan(300);
  },
);
