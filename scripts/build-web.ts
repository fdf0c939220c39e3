// pnpm build:web: builds the pages. `npm start` runs it when the pages are older than their sources, and `pnpm dev` with --watch.
import { existsSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { explainFailure } from './explain-failure.ts';
import type { FromPagesBuild } from './supervisor-pages.ts';
import { buildWeb, buildWebIfStale, FaultySource } from './web-build.ts';
import { sourcesOf, usualBuild, type WebBuild } from './web-sources.ts';

const { values } = parseArgs({
  options: {
    /** Folder of the build. Default: the one the API serves. */
    'out-dir': { type: 'string' },
    'if-stale': { type: 'boolean', default: false },
    /** Also builds the pages for developers, and builds again after each change. */
    watch: { type: 'boolean', default: false },
  },
});

const build: WebBuild = {
  ...usualBuild,
  ...(values['out-dir'] !== undefined && { outDir: resolve(values['out-dir']) }),
  mode: values.watch ? 'development' : 'production',
};

// The supervisor has ended or no longer needs this process
process.on('disconnect', () => process.exit());

if (values.watch) watchSources();
else {
  await buildOnce(values['if-stale'] ? buildWebIfStale : buildWeb);
  process.disconnect?.();
}

async function buildOnce(run: (build: WebBuild) => Promise<string | null>): Promise<void> {
  try {
    await tell({ type: 'built', line: await run(build) });
  } catch (error) {
    const text = explainFailure(error);
    const line = error instanceof FaultySource ? error.line : text.replaceAll('\n', ' ');
    await tell({ type: 'failed', text, line });
    if (!values.watch) process.exitCode = 1;
  }
}

function watchSources(): void {
  let building = buildOnce(buildWebIfStale);
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    // An editor writes a file in several steps, and a change of branch many files
    timer = setTimeout(() => {
      building = building.then(() => buildOnce(buildWebIfStale));
    }, 50);
  };
  const { files, folders } = sourcesOf(build.app);
  for (const folder of folders.filter((path) => existsSync(path))) watch(folder, { recursive: true }, changed);
  // A build puts folders of its own beside these files
  watch(build.app, (_event, name) => {
    if (name !== null && files.includes(join(build.app, name))) changed();
  });
}

/** Reports to the supervisor, or to a person. */
async function tell(message: FromPagesBuild): Promise<void> {
  if (process.send) {
    const { promise, resolve: sent } = Promise.withResolvers<void>();
    process.send(message, undefined, undefined, () => sent());
    return promise;
  }
  if (message.type === 'failed') console.error(message.text);
  else if (message.line !== null) console.log(message.line);
}
