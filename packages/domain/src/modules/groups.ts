import { z } from 'zod';
import { AccountSource } from '../accounts/accounts.ts';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';

/** Maximum number of a tenant's own groups; imported directory groups do not count. */
export const groupLimit = 5_000;

/** Maximum number of members in a list. */
const memberLimit = 20_000;

export const GroupInput = z.object({ internalName: requiredLine() }).meta({ example: { internalName: 'Buchhaltung' } });

export const Group = z.object({ id: Id, internalName: z.string(), source: AccountSource, memberCount: z.int() }).meta({
  id: 'Group',
  example: {
    id: '0198d3c3-4d5e-7f6a-8b7c-9d0e1f2a3b4c',
    internalName: 'Buchhaltung',
    source: 'local',
    memberCount: 4,
  },
});
export type Group = z.output<typeof Group>;

export const GroupMembersInput = z
  .object({ userIds: z.array(Id).max(memberLimit) })
  .meta({ example: { userIds: ['0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11'] } });

export const GroupMember = z.object({ id: Id, username: z.string(), displayName: z.string().nullable() }).meta({
  id: 'GroupMember',
  example: {
    id: '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11',
    username: 'anna.schmidt',
    displayName: 'Anna Schmidt',
  },
});
export type GroupMember = z.output<typeof GroupMember>;
