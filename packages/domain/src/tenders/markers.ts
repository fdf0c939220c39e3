import type { NoticeRecord } from './notice-record.ts';

/**
 * What is not words but searched like them: in the document of a tender each fact is a marker beside the words, and a filter asks
 * for markers in the same question as for words, which one index answers.
 */
export const marker = {
  /** All codes that begin with these digits. */
  cpv: (prefix: string) => `cpv/${prefix}`,
  cpvMissing: 'cpv/none',
  /** All regions that begin with these characters. */
  nuts: (prefix: string) => `nuts/${prefix}`,
  land: (land: string) => `land/${land}`,
  nationwide: 'land/all',
  regionUnknown: 'land/none',
  form: (form: string) => `form/${form}`,
  procedure: (type: string) => `procedure/${type}`,
  nature: (nature: string) => `nature/${nature}`,
  /** What is shown is what a feed says. */
  feed: 'origin/feed',
};

export function markersOf(
  notice: Pick<
    NoticeRecord,
    'sourcePortal' | 'cpvCodes' | 'nutsCodes' | 'bundeslaender' | 'isNationwide' | 'form' | 'procedureType' | 'nature'
  >,
): string[] {
  const { cpvCodes, nutsCodes, bundeslaender, isNationwide, form, procedureType, nature, sourcePortal } = notice;
  return [
    ...new Set([
      ...beginnings(cpvCodes, marker.cpv),
      ...(cpvCodes.length === 0 ? [marker.cpvMissing] : []),
      ...beginnings(nutsCodes, marker.nuts),
      ...bundeslaender.map(marker.land),
      ...(isNationwide ? [marker.nationwide] : []),
      ...(!isNationwide && bundeslaender.length === 0 ? [marker.regionUnknown] : []),
      ...(form === null ? [] : [marker.form(form)]),
      ...(procedureType === null ? [] : [marker.procedure(procedureType)]),
      ...(nature === null ? [] : [marker.nature(nature)]),
      ...(sourcePortal.startsWith('rss:') ? [marker.feed] : []),
    ]),
  ];
}

/** Of `9091` these are `90`, `909` and `9091`. */
const beginnings = (codes: readonly string[], name: (prefix: string) => string): string[] =>
  codes.flatMap((code) => Array.from({ length: Math.max(code.length - 1, 0) }, (_, n) => name(code.slice(0, n + 2))));
