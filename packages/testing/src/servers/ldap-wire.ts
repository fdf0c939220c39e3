import { BerWriter } from 'ldapts';
import { BerError, readElement, readWhole, type Span } from '@portal/connectors/ldap/ber';
import { controlValue, type LdapMessage, operation } from '@portal/connectors/ldap/messages';

/* The server side of LDAP (RFC 4511): parses requests and encodes answers. */

export const pagingOid = '1.2.840.113556.1.4.319';
export const startTlsOid = '1.3.6.1.4.1.1466.20037';

export const request = { bind: 0x60, unbind: 0x42, search: 0x63, extended: 0x77 } as const;

export interface BindFields {
  name: string;
  /** Null unless it is a simple bind. */
  password: string | null;
}

export type FilterNode =
  | { kind: 'and' | 'or'; filters: FilterNode[] }
  | { kind: 'not'; filter: FilterNode }
  | { kind: 'equal' | 'greaterOrEqual' | 'lessOrEqual' | 'approximate'; attribute: string; value: Buffer }
  | { kind: 'substring'; attribute: string; initial: string; any: string[]; final: string }
  | { kind: 'present'; attribute: string }
  | { kind: 'extensible'; rule: string; attribute: string; value: Buffer };

export interface SearchFields {
  base: string;
  scope: 'base' | 'one' | 'sub';
  filter: FilterNode;
  attributes: string[];
  /** Null without the control of RFC 2696. */
  page: { size: number; cookie: Buffer } | null;
}

const text = (bytes: Buffer, { start, end }: Span): string => bytes.toString('utf8', start, end);
const slice = (bytes: Buffer, { start, end }: Span): Buffer => bytes.subarray(start, end);

/** The consecutive strings that fill the span. */
function texts(bytes: Buffer, { start, end }: Span): string[] {
  const found: string[] = [];
  for (let at = start; at < end;) {
    const element = readElement(bytes, at, 0x04, end);
    found.push(text(bytes, element));
    at = element.end;
  }
  return found;
}

export function parseBind({ content }: LdapMessage): BindFields {
  const version = readElement(content, 0, 0x02);
  const name = readElement(content, version.end, 0x04);
  const isSimple = content[name.end] === 0x80;
  return { name: text(content, name), password: isSimple ? text(content, readElement(content, name.end, 0x80)) : null };
}

export const parseExtendedOid = ({ content }: LdapMessage): string => text(content, readElement(content, 0, 0x80));

export function parseSearch({ content, controls }: LdapMessage): SearchFields {
  const base = readElement(content, 0, 0x04);
  const scope = readElement(content, base.end, 0x0a);
  const deref = readElement(content, scope.end, 0x0a);
  const sizeLimit = readElement(content, deref.end, 0x02);
  const timeLimit = readElement(content, sizeLimit.end, 0x02);
  const typesOnly = readElement(content, timeLimit.end, 0x01);
  const filter = readElement(content, typesOnly.end, content[typesOnly.end] ?? 0);
  const attributes = readElement(content, filter.end, 0x30);
  return {
    base: text(content, base),
    scope: (['base', 'one', 'sub'] as const)[readWhole(content, scope)] ?? 'sub',
    filter: parseFilterBytes(content, typesOnly.end).filter,
    attributes: texts(content, attributes),
    page: parsePage(controlValue(controls, pagingOid)),
  };
}

function parsePage(value: Buffer | null): SearchFields['page'] {
  if (value === null) return null;
  const sequence = readElement(value, 0, 0x30);
  const size = readElement(value, sequence.start, 0x02);
  return { size: readWhole(value, size), cookie: slice(value, readElement(value, size.end, 0x04)) };
}

function parseFilterBytes(bytes: Buffer, at: number): { filter: FilterNode; end: number } {
  const tag = bytes[at] ?? 0;
  const span = readElement(bytes, at, tag);
  return { filter: filterNode(bytes, tag, span), end: span.end };
}

function filterNode(bytes: Buffer, tag: number, span: Span): FilterNode {
  switch (tag) {
    case 0xa0:
    case 0xa1: {
      const filters: FilterNode[] = [];
      for (let at = span.start; at < span.end;) {
        const { filter, end } = parseFilterBytes(bytes, at);
        filters.push(filter);
        at = end;
      }
      return { kind: tag === 0xa0 ? 'and' : 'or', filters };
    }
    case 0xa2:
      return { kind: 'not', filter: parseFilterBytes(bytes, span.start).filter };
    case 0xa3:
    case 0xa5:
    case 0xa6:
    case 0xa8: {
      const attribute = readElement(bytes, span.start, 0x04);
      const kinds = { 0xa3: 'equal', 0xa5: 'greaterOrEqual', 0xa6: 'lessOrEqual', 0xa8: 'approximate' } as const;
      const value = readElement(bytes, attribute.end, 0x04);
      return { kind: kinds[tag], attribute: text(bytes, attribute), value: slice(bytes, value) };
    }
    case 0xa4: {
      const attribute = readElement(bytes, span.start, 0x04);
      const parts = readElement(bytes, attribute.end, 0x30);
      const node = { initial: '', any: [] as string[], final: '' };
      for (let at = parts.start; at < parts.end;) {
        const part = readElement(bytes, at, bytes[at] ?? 0);
        if (bytes[at] === 0x80) node.initial = text(bytes, part);
        else if (bytes[at] === 0x82) node.final = text(bytes, part);
        else node.any.push(text(bytes, part));
        at = part.end;
      }
      return { kind: 'substring', attribute: text(bytes, attribute), ...node };
    }
    case 0x87:
      return { kind: 'present', attribute: text(bytes, span) };
    case 0xa9: {
      const node: { rule: string; attribute: string; value: Buffer } = {
        rule: '',
        attribute: '',
        value: Buffer.alloc(0),
      };
      for (let at = span.start; at < span.end;) {
        const part = readElement(bytes, at, bytes[at] ?? 0);
        if (bytes[at] === 0x81) node.rule = text(bytes, part);
        if (bytes[at] === 0x82) node.attribute = text(bytes, part);
        if (bytes[at] === 0x83) node.value = slice(bytes, part);
        at = part.end;
      }
      return { kind: 'extensible', ...node };
    }
    default:
      throw new BerError('no filter');
  }
}

function message(id: number, tag: number, body: (writer: BerWriter) => void, cookie?: Buffer): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  writer.startSequence(tag);
  body(writer);
  writer.endSequence();
  if (cookie !== undefined) {
    const value = new BerWriter();
    value.startSequence();
    value.writeInt(0);
    value.writeBuffer(cookie, 0x04);
    value.endSequence();
    writer.startSequence(0xa0);
    writer.startSequence();
    writer.writeString(pagingOid);
    writer.writeBuffer(value.buffer, 0x04);
    writer.endSequence();
    writer.endSequence();
  }
  writer.endSequence();
  return writer.buffer;
}

export interface ResultFields {
  code: number;
  diagnostic?: string;
  /** Other servers to ask, with code 10. */
  referrals?: string[];
  /** Adds the control of RFC 2696. */
  cookie?: Buffer | undefined;
}

const writeResult =
  ({ code, diagnostic = '', referrals = [] }: ResultFields) =>
  (writer: BerWriter): void => {
    writer.writeEnumeration(code);
    writer.writeString('');
    writer.writeString(diagnostic);
    if (referrals.length > 0) {
      writer.startSequence(0xa3);
      writer.writeStringArray(referrals);
      writer.endSequence();
    }
  };

export const bindResponse = (id: number, result: ResultFields): Buffer =>
  message(id, operation.bindResponse, writeResult(result));

export const extendedResponse = (id: number, result: ResultFields): Buffer =>
  message(id, operation.extendedResponse, writeResult(result));

export const searchDone = (id: number, result: ResultFields): Buffer =>
  message(id, operation.searchDone, writeResult(result), result.cookie);

export const searchReference = (id: number, url: string): Buffer =>
  message(id, operation.searchReference, (writer) => writer.writeString(url));

export const searchEntry = (id: number, dn: string, attributes: [name: string, values: Buffer[]][]): Buffer =>
  message(id, operation.searchEntry, (writer) => {
    writer.writeString(dn);
    writer.startSequence();
    for (const [name, values] of attributes) {
      writer.startSequence();
      writer.writeString(name);
      writer.startSequence(0x31);
      for (const value of values) writer.writeBuffer(value, 0x04);
      writer.endSequence();
      writer.endSequence();
    }
    writer.endSequence();
  });
