/** The characters of the bytes 80 to 9F; all other bytes are as in Latin-1. */
const special = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const pattern = new RegExp(`^[\\t\\n\\r\\u0020-\\u007e\\u00a0-\\u00ff${special}]*$`);

/** Whether Windows-1252 has every character of a text. An encoder would replace others by `?`. */
export const fitsWindows1252 = (text: string): boolean => pattern.test(text);
