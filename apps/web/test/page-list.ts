import { fileURLToPath } from 'node:url';
import { type Plugin, runnerImport } from 'vite';

const web = fileURLToPath(new URL('..', import.meta.url));

/** An entry of `src/routes.ts`, as far as a walk needs it. */
export interface ListedPage {
  path: string;
  name: string;
  who: 'public' | 'account' | 'ADMIN' | 'SUPER_ADMIN' | { module: string; level: 'USE' | 'MANAGE' };
}

const styles = '\0styles';

const withoutStyles: Plugin = {
  name: 'without-styles',
  enforce: 'pre',
  resolveId: (source) => (source.endsWith('.css') ? styles : null),
  load: (id) => (id === styles ? 'export default {}' : null),
};

/** The list of pages as the build sees it. Its sources are written for a browser, so Vite translates them. */
export async function pageList(): Promise<readonly ListedPage[]> {
  const { module } = await runnerImport<{ routes: readonly ListedPage[] }>(`${web}src/routes.ts`, {
    root: web,
    configFile: `${web}vite.config.ts`,
    mode: 'production',
    // The mode alone does not say it: tests run with another NODE_ENV.
    define: { 'import.meta.env.DEV': 'false' },
    logLevel: 'silent',
    plugins: [withoutStyles],
  });
  return module.routes;
}
