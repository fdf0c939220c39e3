import { z } from 'zod';
import { Id } from '../ids.ts';
import { Instant } from '../time.ts';

export const AuditEntry = z
  .object({
    id: Id,
    at: Instant,
    actorId: Id.nullable().describe('Null if no account was signed in'),
    actorName: z.string().nullable(),
    action: z.string(),
    targetType: z.string().nullable(),
    targetId: z.string().nullable(),
    summary: z.string().describe('One English sentence without secret values'),
    ip: z.string().nullable(),
  })
  .meta({
    id: 'AuditEntry',
    example: {
      id: '0198d3c1-0a2b-7c3d-9e4f-5a6b7c8d9e0f',
      at: '2026-11-20T08:30:00.000Z',
      actorId: '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11',
      actorName: 'anna.schmidt',
      action: 'users.create',
      targetType: 'user',
      targetId: '0198d3c2-1b2c-7d3e-8f4a-6b7c8d9e0f1a',
      summary: 'Created the account max.meier with the role USER.',
      ip: '192.0.2.10',
    },
  });
