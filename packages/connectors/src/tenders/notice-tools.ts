import { createHash } from 'node:crypto';
import { Parser } from 'htmlparser2';
import type { NoticeTools } from '@portal/domain/tenders/notice-draft';

/** Elements that end a line. */
export const lineElements: ReadonlySet<string> = new Set(
  'address article blockquote br dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p pre section table td th tr ul'.split(
    ' ',
  ),
);
/** Elements whose content nobody is shown. */
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

/** What a reader of the page sees of some HTML, a line for each block. What looks like markup afterwards is text. */
function textOf(markup: string): string {
  let text = '';
  const within: string[] = [];
  const parser = new Parser({
    onopentagname(name) {
      if (lineElements.has(name)) text += '\n';
      if (hiddenElements.has(name)) within.push(name);
    },
    ontext(piece) {
      if (within.length === 0) text += piece;
    },
    onclosetag(name) {
      if (lineElements.has(name)) text += '\n';
      if (within.at(-1) === name) within.pop();
    },
  });
  parser.end(markup);
  return text;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 32);

export const noticeTools: NoticeTools = { textOf, hash };
