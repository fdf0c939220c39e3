import type { Block, Row } from './blocks.ts';
import type { Frame } from './frame.ts';

/** Columns: what still fits when a reply quotes it twice (RFC 3676 section 4.2 names 78 as the limit). */
const width = 76;

const outsideBasicPlane = /[\ud800-\udbff]/g;

/** In characters: one outside the basic plane takes two code units. */
const length = (text: string): number => text.length - (text.match(outsideBasicPlane)?.length ?? 0);

const words = (line: string): string[] => line.split(' ').filter((part) => part !== '');

const wrapLine = (line: string, indent: string): string => {
  const room = width - length(indent);
  if (length(line) <= room) return words(line).join(' ');
  const lines: string[] = [];
  let [current, taken] = ['', 0];
  for (const word of words(line)) {
    const more = length(word);
    if (current !== '' && taken + 1 + more > room) {
      lines.push(current);
      [current, taken] = [word, more];
    } else {
      [current, taken] = current === '' ? [word, more] : [`${current} ${word}`, taken + 1 + more];
    }
  }
  lines.push(current);
  return lines.join(`\n${indent}`);
};

/** Breaks at spaces only: an address or a long word stays in one piece, so it can be clicked and copied. */
const wrap = (text: string, indent = ''): string =>
  text
    .split('\n')
    .map((line) => wrapLine(line, indent))
    .join(`\n${indent}`);

const table = (entries: readonly Row[]): string => {
  const indent = ' '.repeat(Math.max(...entries.map((row) => length(row.label))) + 3);
  return entries
    .map((row) => `${row.label}:${indent.slice(length(row.label) + 1)}${wrap(row.value, indent)}`)
    .join('\n');
};

const blockText = (block: Block): string => {
  switch (block.kind) {
    case 'paragraph':
      return wrap(block.text);
    case 'hint':
      return `| ${wrap(block.text, '| ')}`;
    case 'button':
      return `${wrap(`${block.label}:`)}\n${block.url}`;
    case 'rows':
      return block.rows.length === 0 ? '' : table(block.rows);
    case 'entry':
      return [wrap(block.title), ...(block.rows.length === 0 ? [] : [table(block.rows)])].join('\n');
  }
};

const headline = (heading: string): string => {
  const wrapped = wrap(heading);
  const longest = Math.max(...wrapped.split('\n').map(length));
  return `${wrapped}\n${'='.repeat(Math.min(longest, width))}`;
};

/** The text form of a mail: wrapped, every address on its own line, closed by a signature line mail programs know. */
export const plainText = (frame: Frame, heading: string | undefined, body: readonly Block[]): string => {
  const parts = [heading === undefined ? '' : headline(heading), ...body.map(blockText)].filter((part) => part !== '');
  const footer = [wrap(frame.notice), frame.serviceUrl ?? ''].filter((line) => line !== '').join('\n');
  return `${parts.join('\n\n')}\n\n-- \n${footer}\n`;
};
