import { type DesktopPlatform, desktopPlatforms, platformOf } from './packages.ts';

/** File endings of each system's packages, best suited for self-update first. */
const endings: Record<string, string[]> = {
  windows: ['-setup.exe', '.exe', '.msi'],
  darwin: ['.app.tar.gz', '.dmg', '.pkg'],
  linux: ['.appimage', '.deb', '.rpm'],
};

/** How package names spell each processor. */
const processors: Record<string, RegExp> = {
  x86_64: /(^|[^a-z0-9])(x86_64|x64|amd64)([^a-z0-9]|$)/,
  aarch64: /(^|[^a-z0-9])(aarch64|arm64)([^a-z0-9]|$)/,
};

const release = /(?<!\d)\d+\.\d+\.\d+/g;

export interface PackageName {
  name: string;
  isSigned: boolean;
}

export interface Choice {
  /** The chosen package of each platform that has one. */
  packages: { platform: DesktopPlatform; name: string }[];
  /** Platforms with several equally good packages. */
  undecided: { platform: DesktopPlatform; names: string[] }[];
  /** Names of the files that are not packages of this release. */
  leftOut: string[];
}

/**
 * Chooses the package of each platform for a release by the names of the files. A file that names another version belongs to another
 * release. Among several for a platform, the one with the full version wins, then a signed one, then the better kind.
 */
export function choosePackages(files: PackageName[], version: string): Choice {
  const candidates = files.flatMap((file) => candidateOf(file, version) ?? []);
  const choice: Choice = { packages: [], undecided: [], leftOut: [] };
  for (const platform of desktopPlatforms) {
    const ofPlatform = candidates.filter((one) => one.platform === platform);
    const best = Math.min(...ofPlatform.map(({ rank }) => rank));
    const names = ofPlatform.filter(({ rank }) => rank === best).map(({ name }) => name);
    if (names.length > 1) choice.undecided.push({ platform, names });
    else if (names[0] !== undefined) choice.packages.push({ platform, name: names[0] });
  }
  const known = new Set(candidates.map(({ name }) => name));
  choice.leftOut = files.map(({ name }) => name).filter((name) => !known.has(name));
  return choice;
}

/** A file's platform and rank, lower being better; null if the name has no known platform or names another version. */
function candidateOf({ name, isSigned }: PackageName, version: string) {
  const lower = name.toLowerCase();
  const numbers = version.match(release)?.[0];
  const named: string[] = name.match(release) ?? [];
  if (numbers !== undefined && named.length > 0 && !named.includes(numbers)) return null;
  const processor = Object.keys(processors).find((one) => processors[one]?.test(lower));
  for (const [system, known] of Object.entries(endings)) {
    const kind = known.findIndex((ending) => lower.endsWith(ending));
    const platform = kind === -1 ? null : platformOf(`${system}-${processor}`);
    if (platform) return { name, platform, rank: kind + (isSigned ? 0 : 10) + (name.includes(version) ? 0 : 100) };
  }
  return null;
}
