import { cleanSvg } from './clean-svg.ts';

/** A task for a process of its own: an SVG in, the cleaned one out; null for one that may not be kept. */
export function run(svg: Uint8Array): Uint8Array | null {
  const clean = cleanSvg(svg);
  return clean === null ? null : Buffer.from(clean);
}
