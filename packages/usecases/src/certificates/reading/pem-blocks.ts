import { base64 } from './base64.ts';

/** A PEM block, found in any text. */
export interface PemBlock {
  label: string;
  /** Whether it has the header of the older key encryption (`Proc-Type: 4,ENCRYPTED`). */
  isLocked: boolean;
  text: string;
  /** Null if the block has no end or is not base64. */
  bytes: Buffer | null;
}

const begin = '-----BEGIN ';
const end = '-----END ';
const dashes = '-----';
const maxLabel = 64;

/** The PEM blocks of a text in their order. Reads each byte once, regardless of the number of blocks. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let at = text.indexOf(begin);
  while (at !== -1) {
    const labelAt = at + begin.length;
    const bodyAt = text.slice(labelAt, labelAt + maxLabel + dashes.length).indexOf(dashes) + labelAt + dashes.length;
    const next = text.indexOf(begin, labelAt);
    // Searches only as far as the next block.
    const region = next === -1 ? text.slice(bodyAt) : text.slice(bodyAt, next);
    const length = region.indexOf(end);
    if (bodyAt >= labelAt + dashes.length) {
      const label = text.slice(labelAt, bodyAt - dashes.length);
      const body = length === -1 ? '' : region.slice(0, length);
      yield blockOf(label, body);
    }
    at = next;
  }
}

function blockOf(label: string, body: string): PemBlock {
  // As in mails, an empty line ends the header lines.
  const [, headers = '', content = body] = /^\s*((?:[\w-]+:.*\r?\n(?:[ \t].+\r?\n)*)+)\s*([^]*)$/.exec(body) ?? [];
  return {
    label,
    isLocked: /^Proc-Type:.*ENCRYPTED/m.test(headers),
    text: `${begin}${label}${dashes}\n${body.trim()}\n${end}${label}${dashes}\n`,
    bytes: base64(content),
  };
}

/** Bytes as a PEM block. */
export function pemOf(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `${begin}${label}${dashes}\n${lines.join('\n')}\n${end}${label}${dashes}\n`;
}
