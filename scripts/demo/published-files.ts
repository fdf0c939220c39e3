import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '@portal/usecases/desktop/write-manifest';

/** Files that an operator puts beside the service, as settings. They stay, because a service may go on without the demo. */
export async function publishFiles(folder: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  return {
    CLOUD_RELEASES_FILE: await publishReleases(folder),
    DESKTOP_DIR: await publishPackages(join(folder, 'desktop')),
  };
}

/** Days from today until the support of each release ends. */
const supportDays: Record<number, number> = { 29: -575, 30: -438, 31: -274, 32: -60, 33: 38, 34: 190, 35: 310 };

/** The releases of the clouds' product around today, so that one is always about to lose its support. */
async function publishReleases(folder: string): Promise<string> {
  const today = Temporal.Now.plainDateISO('UTC');
  const day = (days: number) => today.add({ days }).toString();
  const releases = Object.entries(supportDays).map(([major, days]) => ({
    major: Number(major),
    latest: `${major}.0.4`,
    latestReleasedAt: day(-40),
    supportEndsAt: day(days),
  }));
  const file = join(folder, 'releases.json');
  await writeFile(file, JSON.stringify({ updatedAt: day(0), releases }));
  return file;
}

const version = '1.4.2';
const packages: [name: string, kilobytes: number][] = [
  [`Portal_${version}_x64-setup.exe`, 940],
  [`Portal_${version}_arm64-setup.exe`, 905],
  [`Portal_${version}_x64.app.tar.gz`, 1_210],
  [`Portal_${version}_aarch64.app.tar.gz`, 1_165],
  [`Portal_${version}_amd64.AppImage`, 1_480],
];

/** Packages of a desktop app that can be downloaded, but not run. One platform has none. */
async function publishPackages(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, kilobytes] of packages) {
    await writeFile(join(folder, name), Buffer.alloc(kilobytes * 1_024, `${name}\n`));
    await writeFile(join(folder, `${name}.sig`), createHash('sha256').update(name).digest('base64'));
  }
  const notes = 'Schnellerer Start, und Benachrichtigungen nennen jetzt den Tag.';
  await writeManifest(folder, { version, channel: 'live', commit: '3f2c1ab', notes }, new Date());
  return folder;
}
