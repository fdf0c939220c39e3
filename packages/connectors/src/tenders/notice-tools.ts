import { createHash } from 'node:crypto';
import { Parser } from 'htmlparser2';
import type { NoticeTools } from '@portal/domain/tenders/notice-draft';

/** Elements that end a line. */
export const lineElements: ReadonlySet<string> = new Set(
  'address article blockquote br dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p pre section table td th tr ul'.split(
    ' ',
  ),
);
/** Elements whose content browsers do not show. */
export const hiddenElements: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'head',
  'title',
  'iframe',
  'svg',
]);

/** The visible text of HTML, one line per block. Text in the result that looks like markup is text. */
function textOf(markup: string): string {
  let text = '';
  const hidden: string[] = [];
  const parser = new Parser({
    onopentagname(name) {
      if (lineElements.has(name)) text += '\n';
      if (hiddenElements.has(name)) hidden.push(name);
    },
    ontext(piece) {
      if (hidden.length === 0) text += piece;
    },
    onclosetag(name) {
      if (lineElements.has(name)) text += '\n';
      if (hidden.at(-1) === name) hidden.pop();
    },
  });
  parser.end(markup);
  return text;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 32);

export const noticeTools: NoticeTools = { textOf, hash };
