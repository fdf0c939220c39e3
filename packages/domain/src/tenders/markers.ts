import type { NoticeRecord } from './notice-record.ts';

/**
 * Facts that are searched like words. The search document of a tender contains each fact as a marker, so one index answers a query for
 * words and facts. Indexed arrays could not be combined with words in one index scan, nor be searched by the beginning of a code.
 */
export const marker = {
  /** CPV codes that begin with these digits. */
  cpv: (prefix: string) => `cpv/${prefix}`,
  cpvMissing: 'cpv/none',
  /** NUTS codes that begin with these characters. */
  nuts: (prefix: string) => `nuts/${prefix}`,
  land: (land: string) => `land/${land}`,
  nationwide: 'land/all',
  regionUnknown: 'land/none',
  form: (form: string) => `form/${form}`,
  procedure: (type: string) => `procedure/${type}`,
  nature: (nature: string) => `nature/${nature}`,
  /** The primary notice comes from a registered feed. */
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
      ...prefixesOf(cpvCodes, marker.cpv),
      ...(cpvCodes.length === 0 ? [marker.cpvMissing] : []),
      ...prefixesOf(nutsCodes, marker.nuts),
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

/** `9091` gives `90`, `909` and `9091`. */
const prefixesOf = (codes: readonly string[], name: (prefix: string) => string): string[] =>
  codes.flatMap((code) => Array.from({ length: Math.max(code.length - 1, 0) }, (_, n) => name(code.slice(0, n + 2))));
