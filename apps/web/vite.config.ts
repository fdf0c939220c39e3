import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The pages lie under several paths, and all of them load their assets from here.
  base: '/',
  publicDir: false,
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
      // Of lucide-preact's 2,000 icons, only those are read that a page names.
      experimental: { lazyBarrel: true },
      output: {
        codeSplitting: {
          // Two files for what pages share, instead of dozens: what the sign-in needs, and the rest. A request costs more than it saves.
          groups: [
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'shared', minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
});
