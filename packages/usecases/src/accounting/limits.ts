export const uploadMaxBytes = 10 * 1024 * 1024;
export const unpackedMaxBytes = 50 * 1024 * 1024;
export const csvMaxRows = 100_000;
export const workbookMaxRows = 20_000;
