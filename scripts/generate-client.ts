import { withDocument, writeClientTypes } from './interface-document.ts';

// Writes the types of packages/client.
await withDocument(writeClientTypes);
