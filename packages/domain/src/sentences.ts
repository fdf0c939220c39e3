const isEnded = /[.!?…][)"'”’`]*$/;

/** These remarks as sentences, one after the other; of more than `most` it says how many there are besides. */
export function sentences(remarks: readonly string[], most = Infinity): string {
  const said = remarks
    .map((remark) => remark.trim())
    .filter((remark) => remark !== '')
    .map((remark) => (isEnded.test(remark) ? remark : `${remark}.`));
  const rest = said.length - most;
  return (rest > 0 ? [...said.slice(0, most), `And ${rest} more.`] : said).join(' ');
}

/** A sentence as a headline, which ends without a stop. */
export const asHeadline = (sentence: string): string => sentence.replace(/\.$/, '');
