import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Theme = 'light' | 'dark';
type Color = readonly [r: number, g: number, b: number];

const style = readFileSync(new URL('../style.css', import.meta.url), 'utf8');
const themes: Theme[] = ['light', 'dark'];
const readable = 4.5;

const surfaces = ['bg', 'surface', 'surface-2'];
const states = ['ok', 'warning', 'error', 'info'];

test.each(themes)('texts are readable on every surface of the %s theme', (theme) => {
  for (const text of ['text', 'text-muted', ...states])
    for (const surface of surfaces)
      expectContrast(theme, token(text, theme), token(surface, theme), `${text} on ${surface}`);
  for (const state of states)
    expectContrast(theme, token(state, theme), token(`${state}-bg`, theme), `${state} on its own surface`);
  expectContrast(theme, [1, 1, 1], token('danger-fill', theme), 'white on the fill of dangerous buttons');
});

test.each(themes)('outlines of controls are seen on every surface of the %s theme', (theme) => {
  for (const surface of surfaces) expectContrast(theme, token('outline', theme), token(surface, theme), surface, 3);
});

test.each(themes)('every accent is readable in the %s theme', (theme) => {
  for (const accent of accents()) {
    const name = JSON.stringify(accent);
    const fill = derived('accent-fill', theme, accent);
    const text = derived('accent-text', theme, accent);
    const surface = token('surface', theme);
    const tinted = mixed(fill, surface, theme === 'light' ? 0.08 : 0.25);
    expectContrast(theme, [1, 1, 1], fill, `on-accent on ${name}`);
    for (const one of surfaces) expectContrast(theme, text, token(one, theme), `accent-text of ${name} on ${one}`);
    for (const one of ['text', 'text-muted'])
      expectContrast(theme, token(one, theme), tinted, `${one} on tint of ${name}`);
    expectContrast(theme, text, tinted, `accent-text on tint of ${name}`);
  }
});

test('an accent with enough contrast stays as it is', () => {
  const blue = linear('#2563eb');
  expect(derived('accent-fill', 'light', blue)).toEqual(blue);
  expect(derived('accent-fill', 'dark', blue)).toEqual(blue);
});

function* accents(): Generator<Color> {
  const steps = ['00', '40', '80', 'c0', 'ff'];
  for (const r of steps) for (const g of steps) for (const b of steps) yield linear(`#${r}${g}${b}`);
}

function expectContrast(theme: Theme, one: Color, other: Color, what: string, atLeast = readable): void {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  expect((light + 0.05) / (dark + 0.05), `${theme}: ${what}`).toBeGreaterThanOrEqual(atLeast);
}

/** The text of a token; the last definition counts. */
function source(name: string): string {
  const found = [...style.matchAll(new RegExp(`--${name}:\\s*([^;]+);`, 'g'))].at(-1)?.[1];
  if (found === undefined) throw new Error(`there is no token ${name}`);
  return found.replaceAll(/\s+/g, ' ').trim();
}

const partOf = (text: string, theme: Theme): string => {
  if (!text.startsWith('light-dark(')) return text;
  const parts = splitAtComma(text.slice('light-dark('.length, -1));
  return (theme === 'light' ? parts[0] : parts[1])?.trim() ?? '';
};

function splitAtComma(text: string): string[] {
  let depth = 0;
  const at = [...text].findIndex((letter) => {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    return letter === ',' && depth === 0;
  });
  return [text.slice(0, at), text.slice(at + 1)];
}

function token(name: string, theme: Theme): Color {
  const numbers = /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(partOf(source(name), theme));
  if (!numbers) throw new Error(`token ${name} is no plain colour`);
  const [, l, c, h] = numbers.map(Number);
  return fromOklch(l ?? 0, c ?? 0, h ?? 0);
}

/** A token that the styles calculate from the accent: what a browser makes of it. */
function derived(name: string, theme: Theme, accent: Color): Color {
  const part = partOf(source(name), theme);
  const reference = /^var\(--([\w-]+)\)$/.exec(part)?.[1];
  if (reference !== undefined) return derived(reference, theme, accent);
  const [, from = '', channels = ''] = /^color\( ?from var\(--([\w-]+)\) srgb-linear (.+?) ?\)$/.exec(part) ?? [];
  const base = from === 'accent' ? accent : derived(from, theme, accent);
  const [r = '', g = '', b = ''] = expand(channels).split(/(?<=\)) (?=calc)/);
  return [evaluate(r, base), evaluate(g, base), evaluate(b, base)];
}

const expand = (text: string): string =>
  text.includes('var(') ? expand(text.replaceAll(/var\(--([\w-]+)\)/g, (_, name: string) => source(name))) : text;

/** Calculates `calc()` of the channels r, g and b. */
function evaluate(expression: string, [r, g, b]: Color): number {
  const tokens = expression.match(/[\d.]+|calc|min|max|[a-z]|[()+\-*/,]/g) ?? [];
  let at = 0;
  const take = (...wanted: string[]) => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined);
  const sum = (): number => {
    let value = product();
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) value += sign === '+' ? product() : -product();
    return value;
  };
  const product = (): number => {
    let value = factor();
    for (let sign = take('*', '/'); sign; sign = take('*', '/'))
      value = sign === '*' ? value * factor() : value / factor();
    return value;
  };
  const factor = (): number => {
    const call = take('calc', 'min', 'max');
    if (take('(')) {
      const values = [sum()];
      while (take(',')) values.push(sum());
      if (!take(')')) throw new Error(`cannot read ${expression}`);
      return call === 'min' ? Math.min(...values) : Math.max(...values);
    }
    const name = tokens[at++] ?? '';
    return { r, g, b }[name] ?? Number(name);
  };
  return sum();
}

const luminance = ([r, g, b]: Color): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

const linear = (hex: string): Color => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
};

const clipped = (value: number): number => Math.min(1, Math.max(0, value));

function fromOklch(l: number, c: number, h: number): Color {
  const angle = (h * Math.PI) / 180;
  return fromOklab(l, c * Math.cos(angle), c * Math.sin(angle));
}

function fromOklab(l: number, a: number, b: number): Color {
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    clipped(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    clipped(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    clipped(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

function toOklab([r, g, b]: Color): Color {
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ];
}

function mixed(one: Color, other: Color, share: number): Color {
  const [from, to] = [toOklab(one), toOklab(other)];
  const at = (index: 0 | 1 | 2) => share * from[index] + (1 - share) * to[index];
  return fromOklab(at(0), at(1), at(2));
}
