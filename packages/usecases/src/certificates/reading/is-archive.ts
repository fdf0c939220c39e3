/** Whether the bytes begin like a ZIP, including an empty one. */
export const isArchive = (bytes: Uint8Array): boolean =>
  ['504b0304', '504b0506'].includes(Buffer.from(bytes.subarray(0, 4)).toString('hex'));
