import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeClientTypes, writeDocument } from './interface-document.ts';

// Writes the types of packages/client anew.
const folder = await mkdtemp(join(tmpdir(), 'portal-document-'));
try {
  const document = join(folder, 'openapi.json');
  await writeDocument(document);
  await writeClientTypes(document);
} finally {
  await rm(folder, { recursive: true, force: true });
}
