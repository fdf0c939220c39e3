/** Decodes base64 with white space; null for other text. */
export function base64(text: string): Buffer | null {
  const dense = text.replace(/\s+/g, '');
  return dense.length >= 4 && /^[A-Za-z0-9+/]+={0,2}$/.test(dense) ? Buffer.from(dense, 'base64') : null;
}
