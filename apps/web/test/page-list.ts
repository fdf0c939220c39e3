import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Plugin, runnerImport } from 'vite';

const web = fileURLToPath(new URL('..', import.meta.url));

/** An entry of `src/routes.ts`, as far as a walk needs it. */
export interface ListedPage {
  path: string;
  name: string;
  who: 'public' | 'account' | 'ADMIN' | 'SUPER_ADMIN' | { module: string; level: 'USE' | 'MANAGE' };
}

/** The pages themselves stay away, since they need a browser: each of their files exports functions that do nothing. */
const withoutPages: Plugin = {
  name: 'without-pages',
  enforce: 'pre',
  load: (id) => (id.endsWith('.tsx') ? stubOf(readFileSync(id, 'utf8')) : null),
};

const stubOf = (source: string): string =>
  [...source.matchAll(/^export (?:function|const|class) (\w+)/gm)]
    .map(([, name]) => `export const ${name} = () => null;`)
    .join('\n');

/** The list of pages as the build sees it. */
export async function pageList(): Promise<readonly ListedPage[]> {
  const { module } = await runnerImport<{ routes: readonly ListedPage[] }>(`${web}src/routes.ts`, {
    root: web,
    configFile: `${web}vite.config.ts`,
    mode: 'production',
    // The mode alone does not say it: tests run with another NODE_ENV.
    define: { 'import.meta.env.DEV': 'false' },
    logLevel: 'silent',
    plugins: [withoutPages],
  });
  return module.routes;
}
