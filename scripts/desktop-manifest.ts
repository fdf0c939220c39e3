// pnpm desktop:manifest DIR — writes DIR/manifest.json from the desktop packages and signatures in DIR.
import { parseArgs } from 'node:util';
import { ManifestError, writeManifest } from '@portal/usecases/desktop/write-manifest';

const usage = `Usage: pnpm desktop:manifest DIR [--version V] [--channel C] [--commit C] [--update-version V] [--notes TEXT]

Without an option, RELEASE_VERSION, RELEASE_CHANNEL or RELEASE_COMMIT applies, else the value in the existing manifest.`;

function fail(message: string, code: number): never {
  console.error(message);
  process.exit(code);
}

function readArguments() {
  const option = { type: 'string' } as const;
  const options = { version: option, channel: option, commit: option, 'update-version': option, notes: option };
  try {
    // pnpm may pass on the `--` that ends its own options.
    return parseArgs({ args: process.argv.slice(2).filter((one) => one !== '--'), allowPositionals: true, options });
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, 2);
  }
}

const { values, positionals } = readArguments();
const [folder, ...rest] = positionals;
if (folder === undefined || rest.length > 0) fail(usage, 2);

const { env } = process;
const facts = {
  version: values.version ?? (env['RELEASE_VERSION'] || undefined),
  channel: values.channel ?? (env['RELEASE_CHANNEL'] || undefined),
  commit: values.commit ?? (env['RELEASE_COMMIT'] || undefined),
  updateVersion: values['update-version'],
  notes: values.notes,
};

try {
  const { manifest, packages, isChanged, missing, leftOut } = await writeManifest(folder, facts, new Date());
  const { version, channel, updateVersion } = manifest;
  console.log(`${folder}/manifest.json ${isChanged ? 'now describes' : 'describes already'} ${version} (${channel}):`);
  for (const { platform, file, size, signature } of packages)
    console.log(`  ${platform.padEnd(16)} ${file}, ${size} bytes, ${signature === null ? 'not signed' : 'signed'}`);
  if (updateVersion !== null) console.log(`Apps below ${updateVersion} update themselves to the signed packages.`);
  if (missing.length > 0) console.log(`Missing:\n${missing.map((one) => `  ${one}`).join('\n')}`);
  if (leftOut.length > 0) console.log(`Left out, for their names:\n${leftOut.map((one) => `  ${one}`).join('\n')}`);
} catch (error) {
  if (!(error instanceof ManifestError)) throw error;
  fail(error.message, 1);
}
