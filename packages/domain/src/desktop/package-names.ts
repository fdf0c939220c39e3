import { type DesktopPlatform, desktopPlatforms, platformOf } from './packages.ts';

/** How packages of a system end, first what an app can best update itself from. */
const endings: Record<string, string[]> = {
  windows: ['-setup.exe', '.exe', '.msi'],
  darwin: ['.app.tar.gz', '.dmg', '.pkg'],
  linux: ['.appimage', '.deb', '.rpm'],
};

/** What processors are called in names of packages. */
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
  /** The package of each platform there is one for. */
  packages: { platform: DesktopPlatform; name: string }[];
  /** Platforms with several that are as good as each other. */
  undecided: { platform: DesktopPlatform; names: string[] }[];
  /** Files that are no package of this release, by their names. */
  leftOut: string[];
}

/**
 * Which of these files is the package of which platform for a release, as far as their names tell. One that names another version is
 * of another release. Of several for a platform the one that names the version in full is taken, then a signed one, then the better kind.
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

/** The platform a file is for and how good it is for that, less being better; null when its name does not tell or tells another version. */
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
