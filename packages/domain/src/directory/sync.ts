import { z } from 'zod';
import { Id } from '../ids.ts';
import { Instant } from '../time.ts';

/** What a synchronization did, or would do. */
export const SyncCounts = z
  .object({
    read: z.int().describe('People the directory returned'),
    created: z.int(),
    updated: z.int().describe('Accounts that changed, except reactivated ones'),
    reactivated: z.int(),
    deactivated: z.int(),
    skipped: z
      .int()
      .describe(
        'People who were read but not synchronized: not in the include list, excluded, deactivated in the directory, or without a free username',
      ),
    groups: z.int().describe('Groups created, renamed or removed'),
    memberships: z.int().describe('Memberships created or removed'),
  })
  .meta({ id: 'LdapSyncCounts' });
export type SyncCounts = z.output<typeof SyncCounts>;

export const noCounts: SyncCounts = {
  read: 0,
  created: 0,
  updated: 0,
  reactivated: 0,
  deactivated: 0,
  skipped: 0,
  groups: 0,
  memberships: 0,
};

/** Maximum warnings stored per run. One further warning counts the rest. */
export const maxWarnings = 200;

/** Collects warnings for administrators, stores the first ones and counts all. */
export class Warnings {
  readonly #stored: string[] = [];
  #count = 0;

  add(...sentences: string[]): void {
    this.#count += sentences.length;
    this.#stored.push(...sentences.slice(0, Math.max(0, maxWarnings - this.#stored.length)));
  }

  list(): string[] {
    const more = this.#count - this.#stored.length;
    return more === 0 ? [...this.#stored] : [...this.#stored, `There were ${more} more warnings.`];
  }
}

const counts = {
  ...noCounts,
  read: 450,
  created: 3,
  updated: 12,
  deactivated: 1,
  skipped: 4,
  groups: 2,
  memberships: 9,
};

export const LdapSyncRun = z
  .object({
    id: Id,
    trigger: z.enum(['manual', 'schedule']),
    state: z
      .enum(['queued', 'running', 'succeeded', 'failed', 'blocked'])
      .describe('`blocked`: the run would have deactivated or removed too much and changed nothing; `force` allows it'),
    startedAt: Instant.nullable(),
    finishedAt: Instant.nullable(),
    progress: z.object({ done: z.int(), total: z.int() }).nullable(),
    counts: SyncCounts,
    error: z.string().nullable().describe('One sentence if it failed or was blocked'),
    warnings: z.array(z.string()).describe(`At most ${maxWarnings} warnings, then the number of further ones`),
  })
  .meta({
    id: 'LdapSyncRun',
    example: {
      id: '0198d3cb-3c4d-7e5f-8a6b-7c8d9e0f1a2b',
      trigger: 'manual',
      state: 'succeeded',
      startedAt: '2026-11-20T08:30:00.000Z',
      finishedAt: '2026-11-20T08:30:04.000Z',
      progress: { done: 450, total: 450 },
      counts,
      error: null,
      warnings: ['The e-mail address of “anna.schmidt” is taken by another account and was left empty.'],
    },
  });
export type LdapSyncRun = z.output<typeof LdapSyncRun>;

/** Maximum changes in a preview. */
export const maxPreviewChanges = 500;

export const SyncChange = z.object({
  kind: z.enum(['create', 'update', 'reactivate', 'deactivate']),
  username: z.string(),
  details: z.string().describe('One sentence'),
  fields: z
    .array(
      z.object({
        field: z.enum(['username', 'email', 'displayName', 'firstName', 'lastName']),
        before: z.string().nullable(),
        after: z.string().nullable(),
      }),
    )
    .describe(
      'What an account that exists has now and gets; its place and identity in the directory are only named in `details`',
    ),
});
export type SyncChange = z.output<typeof SyncChange>;

export const LdapSyncPreview = z
  .object({
    counts: SyncCounts,
    isBlocked: z
      .boolean()
      .describe(
        'Whether a run without `force` would end blocked, because it would deactivate too many accounts or remove too many groups',
      ),
    changes: z.array(SyncChange).describe(`The first ${maxPreviewChanges} changes`),
    warnings: z.array(z.string()),
  })
  .meta({
    id: 'LdapSyncPreview',
    example: {
      counts,
      isBlocked: false,
      changes: [
        {
          kind: 'update',
          username: 'anna.schmidt',
          details: 'Changes display name.',
          fields: [{ field: 'displayName', before: 'Anna Schmitt', after: 'Anna Schmidt' }],
        },
      ],
      warnings: [],
    },
  });
export type LdapSyncPreview = z.output<typeof LdapSyncPreview>;
