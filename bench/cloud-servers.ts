import { statusDocument, startCloudServer } from '@portal/testing/servers/cloud-server';

// Clouds that answer after so many milliseconds, in a process of their own: what they cost is not the worker's. One for each folder.
const server = await startCloudServer({ latencyMs: Number(process.argv[2]) });
const { body } = statusDocument();
server.answer = () => ({ body });
process.send?.({ origin: server.origin });
process.once('message', () => process.send?.({ requests: server.requests(), mostAtOnce: server.mostAtOnce() }));
process.once('disconnect', () => process.exit(0));
