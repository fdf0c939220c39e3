/** A value as it has to stand in a filter, so that none of its characters has a meaning there (RFC 4515 section 3). */
export const escapeFilterValue = (value: string): string =>
  value.replaceAll(/[*()\\\0]/g, (character) => escapeFilterBytes(Buffer.from(character)));

/** A binary value, such as an objectGUID, as it has to stand in a filter. */
export const escapeFilterBytes = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
