import { z } from 'zod';
import { role } from '@portal/domain/access';
import { PathId } from '@portal/domain/ids';
import { Group, GroupInput, GroupMember, GroupMembersInput } from '@portal/domain/modules/groups';
import {
  createGroup,
  deleteGroup,
  listGroupMembers,
  listGroups,
  renameGroup,
  setGroupMembers,
} from '@portal/usecases/modules/groups';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['groups'];
const access = role('ADMIN');
const params = z.object({ id: PathId });

/** Groups of accounts, which modules are granted to. */
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
          'All of them, by name: the tenant’s own (`local`) and those a directory sync brought (`directory`), which are read-only here.',
        response: { 200: z.array(Group) },
      },
    },
    (request) => listGroups(request.ctx),
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
          'Names of the tenant’s own groups differ by more than upper and lower case; a directory group may have the same one. At most 5,000 own groups.',
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
        description: 'Members and grants stay.',
        params,
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
        description: 'With its memberships and grants; the accounts stay.',
        params,
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
        description: 'All of them, by username.',
        params,
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
          'By the complete list, at most 20,000 accounts; an unknown one answers 404 and changes nothing. What the group is granted counts from the next request of each member on.',
        params,
        body: GroupMembersInput,
        response: { 200: z.array(GroupMember) },
      },
    },
    (request) => setGroupMembers(request.ctx, request.params.id, request.body.userIds),
  );
}
