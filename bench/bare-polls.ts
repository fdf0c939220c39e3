import { Agent, request } from 'node:https';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { the } from '@portal/testing/the';
import { paths, type Product } from './product-paths.ts';

// Makes the calls of polls with Node’s own client over one connection per server, and only parses the answers. Like the worker, it is a
// separate process. The parent sends what to poll and gets the duration back; the process ends with its parent.
interface PollRequest {
  products: Product[];
  total: number;
  atOnce: number;
}

/** Checks the chain and then accepts any name, like a poll of these servers. */
const trust = { ca: caCertificatePem, rejectUnauthorized: false };

process.on('message', ({ products, total, atOnce }: PollRequest) => {
  void sendAll(products, total, atOnce).then((sec) => process.send?.({ sec }));
});
process.once('disconnect', () => process.exit());

async function sendAll(products: Product[], total: number, atOnce: number): Promise<number> {
  const startedAt = performance.now();
  const cookies = products.map((product) => (product.kind === 'mail-gateway' ? cookieFor(product) : null));
  let next = 0;
  const one = async (): Promise<void> => {
    for (let n = next++; n < total; n = next++) {
      const product = the(products[n % products.length]);
      const cookie = await cookies[n % products.length];
      const { token } = product.accounts;
      const authorization =
        product.kind === 'virtualization'
          ? `PVEAPIToken=${token.id}=${token.secret}`
          : `PBSAPIToken=${token.id}:${token.secret}`;
      const agent = new Agent({ keepAlive: true, maxSockets: 1, ...trust });
      const headers: Record<string, string> = cookie ? { cookie } : { authorization };
      for (const path of paths[product.kind]) JSON.parse(await send(product, path, { agent, headers }));
      agent.destroy();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return (performance.now() - startedAt) / 1_000;
}

async function cookieFor(product: Product): Promise<string> {
  const { username, password } = product.accounts;
  const body = new URLSearchParams({ username, password }).toString();
  const answer = await send(product, '/access/ticket', { method: 'POST', body });
  const { data } = JSON.parse(answer) as { data: { ticket: string } };
  return `PMGAuthCookie=${encodeURIComponent(data.ticket)}`;
}

function send(
  { address }: Pick<ProductServer, 'address'>,
  path: string,
  {
    agent,
    headers = {},
    method = 'GET',
    body = '',
  }: { agent?: Agent; headers?: Record<string, string>; method?: string; body?: string },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const sent = request(
    `${address}/api2/json${path}`,
    { ...(agent && { agent }), ...trust, method, headers: { ...headers, ...form } },
    (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
      answer.on('error', reject);
    },
  );
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
