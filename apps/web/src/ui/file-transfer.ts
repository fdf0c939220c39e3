import type { portal } from '../portal.ts';

/**
 * The same file, held in memory. A browser refuses to send a chosen file again once another program has saved it, and calls that a lost
 * connection. Throws if the file cannot be read.
 */
export const heldFile = async (file: File, name = file.name): Promise<File> =>
  new File([await file.arrayBuffer()], name, { type: file.type });

/** Offers the file for saving. */
export function saveFile({ name, blob }: NamedFile): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers read the file only after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export interface NamedFile {
  name: string;
  blob: Blob;
}

interface FileOptions {
  parseAs: 'blob';
  middleware: Parameters<typeof portal.use>[0][];
}

/** The file that a call answers, with the name that the service gives it. */
export async function fetchFile(call: (options: FileOptions) => Promise<Blob>, fallback: string): Promise<NamedFile> {
  let name = fallback;
  const seen = ({ response }: { response: Response }) => {
    name = nameIn(response.headers.get('content-disposition')) ?? fallback;
  };
  const blob = await call({ parseAs: 'blob', middleware: [{ onResponse: seen }] });
  return { name, blob };
}

/** The file name of a `Content-Disposition` header; null if it has none. */
export function nameIn(header: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header ?? '')?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  const [, quoted, plain] = /filename=(?:"((?:\\.|[^"\\])*)"|([^;\s]+))/i.exec(header ?? '') ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? null;
}
