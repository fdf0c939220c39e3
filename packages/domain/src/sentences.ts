const isEnded = /[.!?…][)"'”’`]*$/;

/** Joins remarks into sentences; beyond `most` it states only how many more there are. */
export function sentences(remarks: readonly string[], most = Infinity): string {
  const ended = remarks
    .map((remark) => remark.trim())
    .filter((remark) => remark !== '')
    .map((remark) => (isEnded.test(remark) ? remark : `${remark}.`));
  const rest = ended.length - most;
  return (rest > 0 ? [...ended.slice(0, most), `And ${rest} more.`] : ended).join(' ');
}

/** A sentence as a headline, without the full stop. */
export const asHeadline = (sentence: string): string => sentence.replace(/\.$/, '');
