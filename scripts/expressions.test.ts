import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import { expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const length = 100_000;
const maxMs = 10;
/** The best of several runs counts, because other programs take the caches away. */
const tries = 20;
const isLong = process.env['LONG_FORM'] !== undefined;
/** Quadratic time already shows at a part of the length. */
const screen = isLong ? { length: length / 4, ms: 0.6 } : { length: length / 10, ms: 0.2 };

/** Matches a regular expression literal in the position of an operand, but no comment and no path in a string. */
const literal =
  /(?<=(?:[=(,:[!&|?{;>]|\breturn)\s*)\/(?![*/])(?<source>(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/(?<flags>[dgimsuvy]*)/g;
const comment = /^\s*(?:\/\/|\/?\*).*$/gm;

interface Expression {
  where: string;
  expression: RegExp;
}

async function expressionsOf(folder: string): Promise<Expression[]> {
  const found: Expression[] = [];
  for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !path.endsWith('.ts') || path.endsWith('.test.ts')) continue;
    const text = (await readFile(path, 'utf8')).replaceAll(comment, '');
    for (const { groups } of text.matchAll(literal)) {
      try {
        const expression = new RegExp(groups?.['source'] ?? '', groups?.['flags']);
        found.push({ where: `${relative(root, path)} ${String(expression)}`, expression });
      } catch {
        // Two divisions on a line look like a literal.
      }
    }
  }
  return found;
}

/** Texts that an expression may repeat; the pairs run only with `LONG_FORM=1`. */
const seeds = [
  ...Array.from('a0 \n-./<"(=:'),
  ...(!isLong
    ? ['a ', '<a']
    : [
        ...Array.from("A\t\r,;\\>'[{@%+_#\u0000ä\u200b"),
        '0:',
        '\r\n',
        ...Array.from('|~*&)\u00a0'),
        '😀',
        'a.',
        'a-',
        ' a',
        '0.',
        '0,',
        '. ',
        '<a ',
        '</',
        'a@',
        'a=',
        '%2',
        '--',
        '::',
        'a,',
        ' -',
        '"a',
        '\\"',
      ]),
];
/** Strings on which backtracking takes long: many repetitions, then a character that does not match. */
const hostile = seeds.flatMap((seed) => {
  const repeated = seed.repeat(length / seed.length);
  return [`${repeated.slice(1)}\u0001`, `x${repeated.slice(2)}x`];
});

const quantifier = /(?:[*+?]|\{(?<least>\d{1,4})(?:,\d{0,4})?\})\??/y;
const candidates = Array.from('a0A -./:<>"=@_\n,;{}[]()%&\u0000\u0080\u200b');

/**
 * Shortest texts that match the expression up to each part that may repeat. Repeating one of them makes an expression search to the end of
 * the text from each repetition.
 */
function startsFor({ source, flags }: RegExp): string[] {
  const starts = new Set<string>();
  let at = 0;
  const atom = (): string => {
    const rest = source.slice(at);
    const group = /^\((?:\?(?<kind>[:=!]|<[=!]|<\w+>))?/.exec(rest);
    if (group !== null) {
      at += group[0].length;
      const inner = sequence(false);
      at += 1;
      return /[=!]/.test(group.groups?.['kind'] ?? '') ? '' : inner;
    }
    const [part = ''] =
      /^(?:\[(?:\\.|[^\]\\])*\]|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[pP]\{[^}]*\}|\\k<\w+>|\\.|[^])/iu.exec(
        rest,
      ) ?? [];
    at += part.length;
    if (/^(?:[$^]|\\[bBk1-9])/.test(part)) return '';
    if (!/^[[.\\]/.test(part)) return part;
    const one = new RegExp(`^(?:${part})$`, flags.replaceAll(/[gy]/g, ''));
    return candidates.find((candidate) => one.test(candidate)) ?? /^\\(.)$/.exec(part)?.[1] ?? '';
  };
  const sequence = (isWhole: boolean): string => {
    let [text, isFirst] = ['', true];
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1;
        isFirst = false;
        continue;
      }
      const isGroup = source[at] === '(';
      const part = atom();
      quantifier.lastIndex = at;
      const repeated = quantifier.exec(source);
      at += repeated?.[0].length ?? 0;
      if (!isFirst) continue;
      if (isWhole && (isGroup || repeated !== null)) starts.add(text);
      const least = repeated === null || repeated[0].startsWith('+') ? 1 : Number(repeated.groups?.['least'] ?? 0);
      text += part.repeat(least);
    }
    return text;
  };
  starts.add(sequence(true));
  return [...starts].filter((start) => start.length > 1 && start.length < 1_000);
}

const hostileFor = (seed: string): string[] => {
  const repeated = seed.repeat(Math.ceil(length / seed.length));
  return [`${repeated}\u0001`, `x${repeated}x`];
};

const context = createContext({ expression: /x/, text: '', texts: [], performance });
const match = "expression.lastIndex = 0; expression.global ? text.replaceAll(expression, '') : expression.test(text);";
const replace = new Script(match);
// A run with a limit on its time costs a thread, so one run tries many texts.
const replaceInEach = new Script(
  `for (const text of texts) { const startedAt = performance.now(); ${match} times.push(performance.now() - startedAt); }`,
);

/** Milliseconds of processor time the expression takes for a text, 1000 at most. */
function timeOf(expression: RegExp, text: string): number {
  Object.assign(context, { expression, text });
  const before = process.threadCpuUsage();
  try {
    replace.runInContext(context, { timeout: 1_000 });
  } catch {
    return 1_000;
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Milliseconds the expression takes for each text, 1000 at most. */
function timesOf(expression: RegExp, texts: string[]): number[] {
  const times: number[] = [];
  Object.assign(context, { expression, texts, times });
  try {
    replaceInEach.runInContext(context, { timeout: 10_000 });
  } catch {
    // The rest is timed one by one.
  }
  return texts.map((text, n) => times[n] ?? timeOf(expression, text));
}

it('matches every expression of the product against 100 kB in at most 10 ms', { timeout: 600_000 }, async () => {
  const folders = (
    await Promise.all(
      ['packages', 'apps'].map(async (kind) =>
        (await readdir(join(root, kind))).map((name) => join(kind, name, 'src')),
      ),
    )
  ).flat();
  const ours = (await Promise.all(folders.filter((folder) => !folder.includes('testing')).map(expressionsOf))).flat();
  expect(ours.length).toBeGreaterThan(150);
  const slow: string[] = [];
  for (const { where, expression } of ours) {
    const texts = [...hostile, ...startsFor(expression).flatMap(hostileFor)];
    const shortTimes = timesOf(
      expression,
      texts.map((text) => text.slice(-screen.length)),
    );
    for (const [n, text] of texts.entries()) {
      if ((shortTimes[n] ?? 0) < screen.ms) continue;
      let [best, bestShort] = [timeOf(expression, text), timeOf(expression, text.slice(-screen.length))];
      for (let attempt = 1; attempt < tries && best > maxMs && best < 1_000; attempt += 1) {
        best = Math.min(best, timeOf(expression, text));
        bestShort = Math.min(bestShort, timeOf(expression, text.slice(-screen.length)));
      }
      // A busy machine is slow at everything: only an expression whose time grows faster than the text counts as slow.
      if (best <= maxMs || (best < 1_000 && best < (bestShort * length * 3) / screen.length)) continue;
      slow.push(`${where} takes ${best.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 24))}…`);
      break;
    }
  }
  expect(slow).toEqual([]);
});
