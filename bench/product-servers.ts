import { backupHost, startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { singleHost, startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { paths } from './product-paths.ts';

// One stand-in for each product, in a process of their own, which take as long as the parent says for all calls of a run together,
// however many those are. Ends with it.
const small = backupHost();
// So that what is asked now and then has been asked after one run.
for (const store of small.stores) store.namespaces = [];
const servers: ProductServer[] = [
  await startVirtualizationServer(singleHost()),
  await startBackupServer(small),
  await startMailGatewayServer(),
];
// What they were asked is of no interest here, and would fill the memory.
for (const server of servers) server.calls.push = () => 0;
process.on('message', ({ runMs }: { runMs: number }) => {
  for (const server of servers) server.latencyMs = runMs / paths[server.kind].length;
  process.send?.('set');
});
process.once('disconnect', () => process.exit());
process.send?.(servers.map(({ kind, address, accounts }) => ({ kind, address, accounts })));
