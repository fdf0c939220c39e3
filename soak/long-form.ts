import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';

/** Runs tests of the suite in their long form, which the setting `LONG_FORM` turns on. */
export async function runLongForm(...files: string[]): Promise<void> {
  const child = spawn(
    `${dirname(import.meta.dirname)}/node_modules/.bin/vitest`,
    ['run', '--testTimeout=7200000', ...files],
    {
      cwd: dirname(import.meta.dirname),
      env: { ...process.env, LONG_FORM: '1' },
      stdio: 'inherit',
    },
  );
  const [code] = await once(child, 'exit');
  console.log(code === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = code === 0 ? 0 : 1;
}
