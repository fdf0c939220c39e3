/** One figure of a benchmark; `limit` and `ratio` are empty where it is measured against no other. */
export interface Figure {
  what: string;
  ours: string;
  limit: string;
  ratio: string;
  goal: string;
  /** Null where nothing is asked of it. */
  holds: boolean | null;
}

const reported =
  /^(?<what>.+): ours (?<ours>[\d.,]+|NaN) (?<unit>\S+), limit (?<limit>[\d.,]+|NaN) \S+, ratio (?<ratio>[\d.]+|NaN|Infinity) \((?<goal>.*)\)$/;
const goals = /\((?<goal>[^()]*(?:at most|at least) [\d.,]+[^()]*)\)/g;
const numbered = /(?<![\w.])(?<ours>\d[\d,]*(?:\.\d+)?) ?(?<unit>\S*)/;
const bound = /(?<kind>at most|at least) (?<number>[\d.,]+)(?: (?<unit>ms|s|MB))?/g;

const numberOf = (text = ''): number => Number(text.replaceAll(',', ''));

/**
 * Whether each bound of a goal is kept: one with a unit is about the figure itself, one without about its ratio where there is one.
 * What it aims at beyond the goal is no part of it; null where it names no bound, or leaves a choice.
 */
function isKept(goal: string, ours: string, ratio?: string): boolean | null {
  const said = goal
    .split(', aim')[0]
    ?.replaceAll(/([\d.,]+ ms) at most/g, 'at most $1')
    .replaceAll(/, and (?=\d)/g, ', and at most ');
  const bounds = [...(said ?? '').matchAll(bound)].map(({ groups }) => {
    const value = numberOf(ratio !== undefined && groups?.['unit'] === undefined ? ratio : ours);
    const number = numberOf(groups?.['number']);
    return groups?.['kind'] === 'at least' ? value >= number : value <= number;
  });
  return bounds.length === 0 || goal.includes(' or ') ? null : bounds.every(Boolean);
}

/** The figures a line of a benchmark tells: what `report` prints, or numbers with their goals in brackets behind. */
export function figuresOf(line: string): Figure[] {
  const known = reported.exec(line)?.groups;
  if (known) {
    const { what = '', ours = '', unit = '', limit = '', ratio = '', goal = '' } = known;
    return [
      { what, ours: `${ours} ${unit}`, limit: `${limit} ${unit}`, ratio, goal, holds: isKept(goal, ours, ratio) },
    ];
  }
  let end = 0;
  return [...line.matchAll(goals)].flatMap((match) => {
    const clauses = line.slice(end, match.index).split(/, |: /);
    end = match.index + match[0].length;
    const { ours = '', unit = '' } = numbered.exec(clauses.at(-1) ?? '')?.groups ?? {};
    const goal = match.groups?.['goal'] ?? '';
    const what = clauses.join(', ').trim();
    return ours === ''
      ? []
      : [{ what, ours: `${ours} ${unit}`.trim(), limit: '', ratio: '', goal, holds: isKept(goal, ours) }];
  });
}

/** The programs among the files of a folder: those that no other file there names. */
export function programsOf(files: Record<string, string>): string[] {
  const names = Object.keys(files);
  return names.filter((name) =>
    names.every((other) => other === name || !new RegExp(`\\b${name}\\.ts\\b`).test(files[other] ?? '')),
  );
}
