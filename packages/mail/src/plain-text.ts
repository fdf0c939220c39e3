import type { Block, Row } from './blocks.ts';
import type { Frame } from './frame.ts';

/** Columns; leaves space for two levels of quoting (RFC 3676 section 4.2 recommends at most 78). */
const width = 76;

const outsideBasicPlane = /[\ud800-\udbff]/g;

/** In characters: those outside the basic plane take two code units. */
const length = (text: string): number => text.length - (text.match(outsideBasicPlane)?.length ?? 0);

const words = (line: string): string[] => line.split(' ').filter((part) => part !== '');

const wrapLine = (line: string, indent: string): string => {
  const available = width - length(indent);
  if (length(line) <= available) return words(line).join(' ');
  const lines: string[] = [];
  let [current, used] = ['', 0];
  for (const word of words(line)) {
    const added = length(word);
    if (current !== '' && used + 1 + added > available) {
      lines.push(current);
      [current, used] = [word, added];
    } else {
      [current, used] = current === '' ? [word, added] : [`${current} ${word}`, used + 1 + added];
    }
  }
  lines.push(current);
  return lines.join(`\n${indent}`);
};

/** Breaks only at spaces: addresses and long words stay in one piece, so that they can be clicked and copied. */
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

/** A mail as plain text: wrapped, each address on its own line, with the signature separator that mail clients know. */
export const plainText = (frame: Frame, heading: string | undefined, body: readonly Block[]): string => {
  const parts = [heading === undefined ? '' : headline(heading), ...body.map(blockText)].filter((part) => part !== '');
  const footer = [wrap(frame.notice), frame.serviceUrl ?? ''].filter((line) => line !== '').join('\n');
  return `${parts.join('\n\n')}\n\n-- \n${footer}\n`;
};
