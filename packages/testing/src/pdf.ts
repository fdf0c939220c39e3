import { constants, deflateRawSync } from 'node:zlib';

/** A PDF of these objects; the first one is the catalog. */
export function pdfOf(objects: (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  for (const [at, object] of objects.entries()) {
    offsets.push(length());
    parts.push(Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]));
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const begins = length();
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${begins}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}

export const pdfStream = (bytes: Uint8Array, entries = ''): Buffer =>
  Buffer.concat([Buffer.from(`<< /Length ${bytes.length} ${entries} >>\nstream\n`), bytes, Buffer.from('\nendstream')]);

export const pdfPages = '<< /Type /Pages /Kids [] /Count 0 >>';

/** A PDF with one embedded file, given as its stream object. */
export const pdfWithFile = (name: string, stream: Buffer): Buffer =>
  pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(${name}) 3 0 R] >> >> >>`,
    pdfPages,
    `<< /Type /Filespec /F (${name}) /EF << /F 4 0 R >> >>`,
    stream,
  ]);

/** A PDF of one empty page; `name` makes its bytes unique. */
export const plainPdf = (name = ''): Buffer =>
  pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /Name (${name}) >>`,
  ]);

/** Deflated zeros that inflate to a gigabyte, created without allocating one. */
export function deflatedGigabyte(): Buffer {
  const part = deflateRawSync(Buffer.alloc(16 * 1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    ...Array.from({ length: 64 }, () => part),
    Buffer.from([3, 0, 0, 0, 0, 0]),
  ]);
}
