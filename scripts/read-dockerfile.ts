import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Instruction {
  keyword: string;
  rest: string;
}

/** Stages of the Dockerfile in order, each beginning with its FROM. */
export const stages = readStages(readFileSync(join(import.meta.dirname, '../Dockerfile'), 'utf8'));
/** Instructions of the last stage, which is the image. */
export const image = stages.at(-1) ?? [];

/** What follows each instruction of this keyword, in the last stage unless another one is given. */
export const every = (keyword: string, stage = image): string[] =>
  stage.filter((instruction) => instruction.keyword === keyword).map(({ rest }) => rest);
export const last = (keyword: string): string => every(keyword).at(-1) ?? '';

export const environmentOfImage = Object.fromEntries(
  every('ENV').flatMap((rest) =>
    rest.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  ),
) as Record<string, string>;

function readStages(text: string): Instruction[][] {
  const instructions = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ keyword: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1).trim() }));
  const starts = instructions.flatMap(({ keyword }, at) => (keyword === 'FROM' ? [at] : []));
  return starts.map((start, at) => instructions.slice(start, starts[at + 1]));
}
