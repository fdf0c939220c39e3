import { cleanSvg } from './clean-svg.ts';

/** Sandbox task: cleans an SVG; null if it must not be stored. */
export function run(svg: Uint8Array): Uint8Array | null {
  const clean = cleanSvg(svg);
  return clean === null ? null : Buffer.from(clean);
}
