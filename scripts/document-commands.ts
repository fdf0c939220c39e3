import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Commands of `package.json` by name. */
export const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The text of each `sh` block in a document. */
export const commandsOf = (path: string): string[] =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);

/** The same commands without the bootstrap: each `pnpm NAME` is replaced by its script in `package.json`. */
export const withoutBootstrap = (commands: string): string =>
  commands.replaceAll(
    /^node scripts\/bootstrap\.mjs exec pnpm (\S+)/gm,
    (given, name: string) => scripts[name] ?? given,
  );
