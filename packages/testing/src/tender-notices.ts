import { createHash } from 'node:crypto';
import { newId } from '@portal/domain/ids';
import { cpvDivisions } from '@portal/domain/tenders/cpv';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';

let numbers = 0;

/** A contract notice of the national export, as a reader returns it. Overrides replace fields; fields derived from codes are computed. */
export function noticeRecord(overrides: Partial<NoticeRecord> = {}): NoticeRecord {
  numbers += 1;
  const noticeUuid = overrides.noticeUuid === undefined ? newId() : overrides.noticeUuid;
  const noticeKey = overrides.noticeKey ?? noticeUuid ?? `key-${numbers}`;
  const noticeVersion = overrides.noticeVersion ?? 1;
  const cpvCodes = overrides.cpvCodes ?? ['90911000'];
  const bundeslaender = overrides.bundeslaender ?? ['NW'];
  const record: Omit<NoticeRecord, 'hash' | 'raw'> = {
    sourcePortal: 'oeffentlichevergabe',
    sourceNoticeId: `${noticeKey}-${String(noticeVersion).padStart(2, '0')}`,
    noticeKey,
    noticeVersion,
    sourceUrl: `https://source.example/${noticeKey}`,
    sourceDay: null,
    noticeUuid,
    publicationNumber: null,
    bundId: null,
    procedureUuid: null,
    portalIds: [],
    changes: null,
    isCorrection: false,
    isCancelled: false,
    form: 'competition',
    noticeType: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'services',
    language: 'deu',
    title: `Ausschreibung Nr. ${numbers}`,
    description: null,
    buyerName: 'Stadt Musterhausen',
    buyerCity: 'Musterhausen',
    cpvCodes,
    cpvDivisions: cpvDivisions(cpvCodes),
    nutsCodes: ['DEA23'],
    bundeslaender,
    bundesland: bundeslaender.length === 1 ? (bundeslaender[0] ?? null) : null,
    bundeslandSource: 'nuts',
    isNationwide: false,
    region: null,
    publishedAt: '2026-11-19T00:00:00.000Z',
    deadlines: [{ kind: 'tender', lotId: null, at: '2999-12-18T10:00:00.000Z', isDateOnly: false }],
    valueCents: null,
    currency: null,
    documentsUrl: null,
    lots: [],
    ...withoutRaw(overrides),
  };
  const hash = createHash('sha256').update(JSON.stringify(record)).digest('hex');
  return { ...record, hash, raw: { format: 'eforms', body: `<notice>${hash}</notice>` }, ...overrides };
}

const withoutRaw = ({ raw: _raw, hash: _hash, ...overrides }: Partial<NoticeRecord>) => overrides;
