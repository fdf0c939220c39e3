import { z } from 'zod';
import { Id } from '../ids.ts';

const Color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #2563eb');

/** The allow-list of dashboard backgrounds; it refuses unknown keys, so nothing else can end up in a style. */
export const DashboardBackground = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('color'), color: Color }),
    z.strictObject({ kind: z.literal('gradient'), from: Color, to: Color, angle: z.number().min(0).max(360) }),
    z.strictObject({
      kind: z.literal('image'),
      imageId: Id,
      fit: z.enum(['cover', 'contain', 'tile']),
      dim: z.number().min(0).max(100).describe('Darkening in percent'),
      blur: z.number().min(0).max(40).describe('Blur in pixels'),
    }),
  ])
  .meta({ id: 'DashboardBackground', example: { kind: 'color', color: '#0f172a' } });
export type DashboardBackground = z.output<typeof DashboardBackground>;

/** A stored background as shown: one that no longer passes the allow-list reads as `none`. */
export const normalizeBackground = (stored: unknown): DashboardBackground => {
  const parsed = DashboardBackground.safeParse(stored);
  return parsed.success ? parsed.data : { kind: 'none' };
};
