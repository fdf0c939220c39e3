import { z } from 'zod';
import { role } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { Group, GroupInput, GroupMember, GroupMembersInput } from '@portal/domain/modules/groups';
import {
  createGroup,
  deleteGroup,
  listGroupMembers,
  listGroups,
  renameGroup,
  setGroupMembers,
} from '@portal/usecases/modules/groups';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['groups'];
const access = role('ADMIN');

/** Groups of accounts, to which administrators grant modules. */
export function registerGroups(app: App): void {
  app.get(
    '/groups',
    {
      config: { access },
      schema: {
        operationId: 'listGroups',
        tags,
        summary: 'List groups',
        description:
          'All groups of the tenant, by name: its own (`local`) and those from a directory synchronization (`directory`), which are read-only here. With `memberId`, only those of that account.',
        querystring: z.object({ memberId: Id.optional().describe('Only groups of this account') }),
        response: { 200: z.array(Group) },
      },
    },
    (request) => listGroups(request.ctx, request.query),
  );

  app.post(
    '/groups',
    {
      config: { access, errors: { 409: ['GROUP_NAME_TAKEN', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'createGroup',
        tags,
        summary: 'Create a group',
        description:
          'Names of the tenant’s own groups must be unique regardless of case; a directory group may have the same name. A tenant has at most 5,000 groups of its own.',
        body: GroupInput,
        response: { 201: Group },
      },
    },
    (request) => createGroup(request.ctx, request.body),
  );

  app.patch(
    '/groups/:id',
    {
      config: { access, errors: { 409: ['GROUP_NAME_TAKEN', 'DIRECTORY_GROUP'] } },
      schema: {
        operationId: 'renameGroup',
        tags,
        summary: 'Rename a group',
        description: 'Members and grants are kept.',
        params: ById,
        body: GroupInput,
        response: { 200: Group },
      },
    },
    (request) => renameGroup(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/groups/:id',
    {
      config: { access, errors: { 409: ['DIRECTORY_GROUP'] } },
      schema: {
        operationId: 'deleteGroup',
        tags,
        summary: 'Delete a group',
        description: 'Also deletes its memberships and grants; the accounts are kept.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteGroup(request.ctx, request.params.id),
  );

  app.get(
    '/groups/:id/members',
    {
      config: { access },
      schema: {
        operationId: 'listGroupMembers',
        tags,
        summary: 'List the members of a group',
        description: 'All members, by username.',
        params: ById,
        response: { 200: z.array(GroupMember) },
      },
    },
    (request) => listGroupMembers(request.ctx, request.params.id),
  );

  app.put(
    '/groups/:id/members',
    {
      config: { access, errors: { 409: ['DIRECTORY_GROUP'] } },
      schema: {
        operationId: 'setGroupMembers',
        tags,
        summary: 'Replace the members of a group',
        description:
          'Send the complete list of members, at most 20,000 accounts. If one account does not exist, the answer is 404 and nothing changes. Each member has the grants of the group from the next request on.',
        params: ById,
        body: GroupMembersInput,
        response: { 200: z.array(GroupMember) },
      },
    },
    (request) => setGroupMembers(request.ctx, request.params.id, request.body.userIds),
  );
}
