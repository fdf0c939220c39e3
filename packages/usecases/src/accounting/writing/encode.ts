import iconv from 'iconv-lite';

/** Check the text with `fitsWindows1252` first: other characters would become `?`. */
export const inWindows1252 = (text: string): Uint8Array => iconv.encode(text, 'win1252');
