import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Commands of `package.json` by name. */
export const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** The commands of a document, a text for each block. */
export const commandsOf = (path: string): string[] =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);

/** The same without the download that comes first: what `pnpm NAME` stands for. */
export const withoutBootstrap = (commands: string): string =>
  commands.replaceAll(
    /^node scripts\/bootstrap\.mjs exec pnpm (\S+)/gm,
    (given, name: string) => scripts[name] ?? given,
  );
