import iconv from 'iconv-lite';

/** What stands in it was checked before: a character Windows-1252 does not have would become `?`. */
export const inWindows1252 = (text: string): Uint8Array => iconv.encode(text, 'win1252');
