import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { Instant } from '../time.ts';

/** Per account. */
export const maxTabs = 20;
export const maxImages = 30;
/** Per tab. */
export const maxWidgets = 60;
/** Largest picture (5 MiB). */
export const imageMaxBytes = 5 * 1024 * 1024;

export const TabName = requiredLine(60).meta({ example: 'Leitstelle' });

export const DashboardTab = z
  .object({ id: Id, name: z.string(), position: z.int().describe('Counted from 0 without gaps') })
  .meta({
    id: 'DashboardTab',
    example: { id: '0198d3c4-1c2d-7e3f-8a4b-5c6d7e8f9a0b', name: 'Leitstelle', position: 0 },
  });
export type DashboardTab = z.output<typeof DashboardTab>;

/** 'Dashboard N' with the lowest N, from 1, that is not in `names`. */
export function lowestFreeName(names: readonly string[]): string {
  const taken = new Set(names);
  let number = 1;
  while (taken.has(`Dashboard ${number}`)) number += 1;
  return `Dashboard ${number}`;
}

export const DashboardImage = z
  .object({
    id: Id,
    originalName: z.string().describe('Name of the uploaded file'),
    type: z.string().describe('Detected from the content; the type named by the upload is ignored'),
    sizeBytes: z.int(),
    createdAt: Instant,
  })
  .meta({
    id: 'DashboardImage',
    example: {
      id: '0198d3c5-2d3e-7f40-8b5c-6d7e8f9a0b1c',
      originalName: 'sommerfest.jpg',
      type: 'image/jpeg',
      sizeBytes: 482_133,
      createdAt: '2026-11-20T08:30:00.000Z',
    },
  });
export type DashboardImage = z.output<typeof DashboardImage>;
