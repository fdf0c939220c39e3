import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { Instant } from '../time.ts';

export const TenantName = requiredLine().meta({ example: 'Stadtwerke Beispiel' });

export const Tenant = z
  .object({ id: Id, name: z.string(), isActive: z.boolean(), userCount: z.int(), createdAt: Instant })
  .meta({
    id: 'Tenant',
    example: {
      id: '0198d3bf-91f2-7d10-a1b3-5b0f6ce1d2e3',
      name: 'Stadtwerke Beispiel',
      isActive: true,
      userCount: 12,
      createdAt: '2026-11-01T09:00:00.000Z',
    },
  });
export type Tenant = z.output<typeof Tenant>;
