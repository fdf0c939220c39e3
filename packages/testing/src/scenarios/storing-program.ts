// Program: stores files one after the other and reports each path once the store has confirmed it, until it is killed.
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openFileStore } from '@portal/platform/files/open-store';
import { openLog } from '@portal/platform/log';
import { contentOf, inChunks, sizeOf, uncounted } from './stored-files.ts';

const files = openFileStore(readConfig(process.env), openLog('silent', 'script'), uncounted);
// The parent has ended.
process.on('disconnect', () => process.exit());

for (;;) {
  const id = newId();
  const content = contentOf(id, sizeOf(id));
  const { path } = await files.write('samples', id, 'bin', inChunks(content), { maxBytes: content.length });
  process.send?.({ path });
}
