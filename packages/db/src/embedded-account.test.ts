import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { canReach, canUse, parseAccounts } from './embedded-account.ts';

it('reads accounts, including the negative id of the macOS account nobody', () => {
  const accounts = parseAccounts(
    '# comment\nroot:x:0:0:root:/root:/bin/sh\nnobody:*:-2:-2:Nobody:/var/empty:/bin/false\n',
  );
  expect(accounts.get('root')).toEqual({ uid: 0, gid: 0 });
  expect(accounts.get('nobody')).toEqual({ uid: 4_294_967_294, gid: 4_294_967_294 });
});

it('checks whether an account can pass through the folders above a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portal-account-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const other = { uid: 4_000_000, gid: 4_000_000 };
  const file = join(folder, 'inner', 'program');
  await mkdir(join(folder, 'inner'), { mode: 0o755 });
  await writeFile(file, '', { mode: 0o700 });

  await chmod(folder, 0o700);
  expect(await canReach(other, file)).toBe(false);
  await chmod(folder, 0o711);
  expect(await canReach(other, file)).toBe(true);
  expect(await canUse(other, file)).toBe(false);
  await chmod(file, 0o755);
  expect(await canUse(other, file)).toBe(true);
  expect(await canReach(null, file)).toBe(true);
});
