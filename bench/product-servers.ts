import { backupHost, startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { singleHost, startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { paths } from './product-paths.ts';

// Stand-ins for each product, in a separate process that ends with its parent. They have nine addresses, because a run makes only a few
// polls at one host at a time. All calls of a run together take the time that the parent sets, independent of their number.
const small = backupHost();
// Without namespaces, one run makes all the calls that are only made now and then.
for (const store of small.stores) store.namespaces = [];
const servers: ProductServer[] = [];
for (let n = 1; n <= 9; n += 1) {
  const host = `127.0.0.${n}`;
  servers.push(
    await startVirtualizationServer(singleHost(), { host }),
    await startBackupServer(small, { host }),
    await startMailGatewayServer(undefined, { host }),
  );
}
// The log of calls is unused here and would fill the memory.
for (const server of servers) server.calls.push = () => 0;
process.on('message', ({ runMs }: { runMs: number }) => {
  for (const server of servers) server.latencyMs = runMs / paths[server.kind].length;
  process.send?.('set');
});
process.once('disconnect', () => process.exit());
process.send?.(servers.map(({ kind, address, accounts }) => ({ kind, address, accounts })));
