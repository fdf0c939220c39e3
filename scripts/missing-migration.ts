import { cp, mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

type RunTool = (name: string, ...args: string[]) => Promise<{ failed: boolean; output: string }>;

/** Fails with the missing SQL if the tables in the code differ from those the migrations create. */
export async function missingMigration(runTool: RunTool): Promise<{ failed: boolean; output: string }> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'migrations-'));
  try {
    const out = join(folder, 'drizzle');
    await cp(join(root, 'drizzle'), out, { recursive: true });
    const config = join(folder, 'drizzle.config.ts');
    // drizzle-kit resolves paths against its working directory
    await writeFile(
      config,
      `import config from '${relative(folder, join(root, 'packages/db/drizzle.config.ts')).replaceAll('\\', '/')}';
       export default { ...config, out: './${relative(root, out).replaceAll('\\', '/')}' };`,
    );
    const generated = await runTool('drizzle-kit', 'generate', '--config', relative(root, config));
    if (generated.failed || generated.output.includes('No schema changes')) return generated;
    const known = new Set(await readdir(join(root, 'drizzle')));
    const added = (await readdir(out)).filter((name) => !known.has(name));
    const statements = await Promise.all(added.map((name) => readFile(join(out, name), 'utf8')));
    // Renamed columns make drizzle-kit ask a question, which fails without a terminal and with exit code 0
    if (added.length === 0) return { failed: true, output: generated.output };
    return {
      failed: true,
      output: `The tables in the code differ from the migrations. Run: pnpm generate\n\n${statements.join('\n')}`,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
