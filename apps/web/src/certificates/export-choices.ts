import type { CertificateExport } from '@portal/client/interface';
import { type Analysis, type Chain, isCertificate, type Part, partnersOf } from './analysis.ts';

export type Format = CertificateExport['format'];

/** The parts that an export of one part can use. */
export interface Ingredients {
  certificate: Part | null;
  key: Part | null;
  request: Part | null;
  /** The chains above the certificate, best first; each begins with it. */
  chains: string[][];
}

export function ingredientsOf(part: Part, analysis: Analysis): Ingredients {
  const [key = null] = partnersOf(part, 'key', analysis);
  const [request = null] = partnersOf(part, 'csr', analysis);
  return {
    certificate: isCertificate(part) ? part : null,
    key: part.kind === 'key' ? part : key,
    request: part.kind === 'csr' ? part : request,
    chains: isCertificate(part) ? chainsOf(part.id, analysis.chains) : [],
  };
}

/** Chains are named by their lowest certificate, and an intermediate may stand within. */
function chainsOf(id: string, chains: readonly Chain[]): string[][] {
  const above = chains.filter(({ path }) => path.includes(id)).map(({ path }) => path.slice(path.indexOf(id)));
  const different = [...new Map(above.map((path) => [path.join(), path])).values()];
  return different.length > 0 ? different : [[id]];
}

const certificateFormats: Format[] = ['fullchain', 'pfx', 'crt', 'cer', 'p7b'];
const keyFormats: Format[] = ['key-pkcs8', 'key-pkcs1', 'key-der'];

/** The formats that make sense, the most usual first. A server without its key is offered those with a key, to say what they lack. */
export function formatsOf({ certificate, key, request }: Ingredients): Format[] {
  const isServer = certificate?.kind === 'server';
  return [
    ...(certificate ? certificateFormats.filter((format) => format !== 'pfx' || isServer || key) : []),
    ...(key || isServer ? keyFormats : []),
    ...(request ? (['csr-pem', 'csr-der'] as const) : []),
  ];
}

export const needsKey = (format: Format): boolean => format === 'pfx' || format.startsWith('key-');
export const hasChain = (format: Format): boolean => format === 'fullchain' || format === 'p7b' || format === 'pfx';
