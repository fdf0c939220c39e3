interface Device {
  /** Null if the user agent does not tell. */
  program: string | null;
  system: string | null;
}

// The first match counts: most browsers also name those they descend from.
const programs: [name: string, mark: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|OPT|Opera)\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['DuckDuckGo', /\b(DuckDuckGo|Ddg)\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[\d.]{1,20} (Mobile\/\w{1,20} )?Safari\//],
];

const systems: [name: string, mark: RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b|\bX11\b/],
];

/** What a person recognizes a device by. A program that is no browser goes by the name that it gives itself, such as “curl”. */
export function deviceOf(userAgent: string | null): Device {
  const text = userAgent ?? '';
  return { program: firstMatch(programs, text) ?? ownName(text), system: firstMatch(systems, text) };
}

const firstMatch = (list: typeof programs, text: string): string | null =>
  list.find(([, mark]) => mark.test(text))?.[0] ?? null;

function ownName(text: string): string | null {
  const [, name = ''] = /^([\p{L}\p{N}][\p{L}\p{N}._ -]{0,39})(\/|$)/u.exec(text) ?? [];
  return name === '' || name === 'Mozilla' ? null : name.trim();
}
