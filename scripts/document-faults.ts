import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasClientTypes, writeDocument } from './interface-document.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

interface Finding {
  failed: boolean;
  output: string;
}

/** What those who build on the interface would hold against its document, and a client that does not fit it. */
export async function documentFaults(runTool: (name: string, ...args: string[]) => Promise<Finding>): Promise<Finding> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'document-'));
  try {
    const document = relative(root, join(folder, 'openapi.json'));
    await writeDocument(join(root, document));
    const findings = await Promise.all([
      // `/tenders/saved-searches/{id}` and `/tenders/{id}/triage` are two paths: a name in its place goes before what stands for any.
      runTool('redocly', 'lint', document, '--extends', 'recommended-strict', '--skip-rule', 'no-ambiguous-paths'),
      runTool('spectral', 'lint', document, '--ruleset', '.spectral.yaml', '--fail-severity', 'warn'),
      hasClientTypes(document).then((fits) => ({
        failed: !fits,
        output: 'The types of packages/client differ from the routes. Run: pnpm generate:client',
      })),
    ]);
    const failures = findings.filter(({ failed }) => failed);
    return { failed: failures.length > 0, output: failures.map(({ output }) => output).join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
