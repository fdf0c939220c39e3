import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const signedIn = /\/src\/signed-in\.ts$/;

/** Whether what each signed-in account loads imports this module, directly or not. */
function isOfSignedIn(
  id: string,
  infoOf: (id: string) => { importers: readonly string[] } | null,
  seen = new Set<string>(),
): boolean {
  if (signedIn.test(id)) return true;
  seen.add(id);
  return (infoOf(id)?.importers ?? []).some((importer) => !seen.has(importer) && isOfSignedIn(importer, infoOf, seen));
}

/** Vite drops this attribute: the first paint waits for the script, which sets the theme. */
const blockPainting = (page: string): string =>
  page.replace('<script type="module"', '<script type="module" blocking="render"');

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The pages lie under several paths, and all of them load their assets from here.
  base: '/',
  publicDir: false,
  plugins: [{ name: 'blocking-script', transformIndexHtml: blockPainting }],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    target: 'baseline-widely-available',
    manifest: true,
    // The content security policy allows no `data:` scripts or styles, and a file is cached for good.
    assetsInlineLimit: 0,
    // All styles together are smaller than a second request is slow.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Of lucide's 2,000 icons, only those are read that a page names.
      experimental: { lazyBarrel: true },
      output: {
        codeSplitting: {
          // A few files for what pages share, instead of dozens, because a request costs more than it saves: what the sign-in needs, what the
          // dashboard and its frame need, the other parts of `src/ui`, and one for each area whose pages share something.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 4 },
            {
              name: (id, context) => (isOfSignedIn(id, (one) => context.getModuleInfo(one)) ? 'shared' : null),
              minShareCount: 2,
              priority: 3,
            },
            { name: 'ui', test: /\/src\/ui\/|\/node_modules\//, minShareCount: 2, priority: 2 },
            { name: (id) => /\/src\/([\w-]+)\//.exec(id)?.[1] ?? 'ui', minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
});
