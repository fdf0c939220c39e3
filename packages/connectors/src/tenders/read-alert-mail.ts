import { Parser } from 'htmlparser2';
import PostalMime, { type Address } from 'postal-mime';
import type { AlertMail, MailBlock, MailLink } from '@portal/domain/tenders/alert-mail';
import { UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import { hiddenElements, lineElements } from './notice-tools.ts';

const maxLinks = 3_000;
const maxBlocks = 20_000;
/** Maximum nesting of blocks; deeper content belongs to the innermost block. */
const maxNested = 200;
/** Characters of the text of a link. */
const maxShown = 1_000;

/**
 * The visible text of a mail with its links and blocks, from its HTML or else its plain text. Nothing is rendered or loaded. Throws an
 * UnreadableNotice.
 */
export async function readAlertMailOf(bytes: Uint8Array): Promise<AlertMail> {
  let mail: Awaited<ReturnType<typeof PostalMime.parse>>;
  try {
    mail = await PostalMime.parse(bytes, { maxNestingDepth: 50 });
  } catch {
    throw new UnreadableNotice('cannot be parsed.');
  }
  const { html, text, to = [], cc = [] } = mail;
  const content = html !== undefined && /<a\s/i.test(html) ? fromHtml(html) : fromText(text ?? html ?? '');
  return { ...content, recipients: recipientsOf([...to, ...cc]) };
}

const recipientsOf = (addresses: Address[]): string[] =>
  addresses
    .slice(0, 50)
    .flatMap(({ name, address, group }) => [name, address, ...(group ?? []).flatMap((one) => [one.name, one.address])])
    .filter((one) => one !== undefined)
    .filter((one) => one !== '');

type MailContent = Omit<AlertMail, 'recipients'>;

/** Elements whose content belongs together. */
const blockElements: ReadonlySet<string> = new Set(
  'article blockquote body div dl li ol p section table tbody td th tr ul'.split(' '),
);
const boldElements: ReadonlySet<string> = new Set('b strong h1 h2 h3 h4 h5 h6'.split(' '));

function fromHtml(markup: string): MailContent {
  // Keep offsets only while the text grows: each slice would copy the whole text.
  const root = { start: 0, end: 0, parent: null as number | null };
  const blocks = [root];
  const links: { href: string; start: number; end: number; block: number }[] = [];
  const bolds = new Map<number, { start: number; end: number }>();
  const within: (number | null)[] = [0];
  const hidden: string[] = [];
  let current = 0;
  let text = '';
  let link: { href: string; start: number; block: number } | null = null;
  let bold: { start: number; name: string; block: number } | null = null;

  const endLink = () => {
    if (link && links.length < maxLinks) links.push({ ...link, end: text.length });
    link = null;
  };
  const parser = new Parser(
    {
      onopentag(name, { href }) {
        if (hiddenElements.has(name)) hidden.push(name);
        // The cells of a row stay on one line.
        if (name === 'td' || name === 'th') text += '\t';
        else if (lineElements.has(name)) text += '\n';
        if (blockElements.has(name)) {
          const isOpened = blocks.length < maxBlocks && within.length < maxNested;
          if (isOpened) {
            blocks.push({ start: text.length, end: text.length, parent: current });
            current = blocks.length - 1;
          }
          within.push(isOpened ? current : null);
        }
        if (name === 'a') {
          endLink();
          if (href !== undefined) link = { href, start: text.length, block: current };
        }
        if (boldElements.has(name)) bold ??= { start: text.length, name, block: current };
      },
      ontext(piece) {
        if (hidden.length === 0) text += piece.replaceAll(/\s+/g, ' ');
      },
      onclosetag(name) {
        if (hidden.at(-1) === name) hidden.pop();
        if (name === 'a') endLink();
        if (bold?.name === name) {
          if (!bolds.has(bold.block) && bold.start < text.length)
            bolds.set(bold.block, { start: bold.start, end: text.length });
          bold = null;
        }
        if (blockElements.has(name) && within.length > 1) {
          const ended = within.pop() ?? null;
          const block = ended === null ? undefined : blocks[ended];
          if (block) {
            block.end = text.length;
            current = block.parent ?? 0;
          }
        }
        if (lineElements.has(name) && name !== 'td' && name !== 'th') text += '\n';
      },
    },
    { decodeEntities: true },
  );
  parser.end(markup);
  endLink();
  root.end = text.length;
  const shown = ({ start, end }: { start: number; end: number }) => text.slice(start, Math.min(end, start + maxShown));
  return {
    text,
    blocks: blocks.map((block, n) => {
      const span = bolds.get(n);
      return { ...block, bold: span ? shown(span) : null };
    }),
    links: links.map(({ href, block, ...span }) => ({ href, block, text: shown(span) })),
  };
}

/** Splits at empty lines. A paragraph that is only a link belongs to the paragraph before it. */
function fromText(plain: string): MailContent {
  const text = plain.replaceAll(/\r\n?/g, '\n');
  const root: MailBlock = { start: 0, end: text.length, parent: null, bold: null };
  const blocks: MailBlock[] = [root];
  const links: MailLink[] = [];
  for (const { index, 0: paragraph } of text.matchAll(/(?:[^\n]*[^\s\n][^\n]*(?:\n|$))+/g)) {
    const before = blocks.at(-1);
    const end = index + paragraph.length;
    if (
      blocks.length > 1 &&
      before &&
      /^\s*<?https?:\S+\s*$/i.test(paragraph) &&
      links.at(-1)?.block !== blocks.length - 1
    )
      before.end = end;
    else if (blocks.length < maxBlocks) blocks.push({ start: index, end, parent: 0, bold: null });
    for (const [href] of paragraph.matchAll(/https?:\/\/[^\s<>"']+/gi))
      if (links.length < maxLinks) links.push({ href: withoutPunctuation(href), text: '', block: blocks.length - 1 });
  }
  return { text, blocks, links };
}

/** An address without the punctuation of the sentence around it. An expression would take quadratic time over a row of dots. */
function withoutPunctuation(href: string): string {
  let end = href.length;
  while (end > 0 && ').,;'.includes(href.charAt(end - 1))) end -= 1;
  return href.slice(0, end);
}
