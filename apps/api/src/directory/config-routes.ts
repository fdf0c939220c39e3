import { z } from 'zod';
import { role } from '@portal/domain/access';
import { LdapConfig, LdapMapping, LdapMappingInput, LdapTest, LiveGroup } from '@portal/domain/directory/config';
import { PathId } from '@portal/domain/ids';
import { line } from '@portal/domain/text';
import { deleteLdapConfig, getLdapConfig, putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { ReadableLdapConfigInput } from '@portal/usecases/directory/ldap-config-input';
import { addLdapMapping, deleteLdapMapping, listLdapMappings } from '@portal/usecases/directory/ldap-mappings';
import { listLiveGroups } from '@portal/usecases/directory/list-live-groups';
import { testLdap } from '@portal/usecases/directory/test-ldap';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['directory'];
const access = role('ADMIN');

/** A tenant's directory server: its settings, what of it comes in, and the synchronization. */
export function registerDirectoryConfig(app: App): void {
  app.get(
    '/ldap/config',
    {
      config: { access },
      schema: {
        operationId: 'getLdapConfig',
        tags,
        summary: 'Read the directory settings',
        description:
          'Nulls and empty lists while nothing is set. `bindPassword` is the mask `********` when one is kept, else null.',
        response: { 200: LdapConfig },
      },
    },
    (request) => getLdapConfig(request.ctx),
  );

  app.put(
    '/ldap/config',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'] } },
      schema: {
        operationId: 'putLdapConfig',
        tags,
        summary: 'Replace the directory settings',
        description:
          'A missing, blank or masked `bindPassword` keeps the stored one, but only with the server, `bindDn` and encryption it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Another certificate authority counts as another encryption. Null removes it. Without `bindDn` or a password the bind is anonymous. `startTls` is for `ldap://` alone. Lists lose entries that are there twice. The next synchronization follows the new interval and switch at once. While `isActive` is false, no account of the directory can sign in.',
        body: ReadableLdapConfigInput,
        response: { 200: LdapConfig },
      },
    },
    (request) => putLdapConfig(request.ctx, request.body),
  );

  app.delete(
    '/ldap/config',
    {
      config: { access },
      schema: {
        operationId: 'deleteLdapConfig',
        tags,
        summary: 'Delete the directory settings',
        description:
          'Forgets the server and its password, and nothing is synchronized any more. Accounts and groups that came from the directory stay, but these accounts can no longer sign in; the mappings and the history of runs stay, too.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteLdapConfig(request.ctx),
  );

  app.post(
    '/ldap/test',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'], 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testLdap',
        tags,
        summary: 'Try directory settings before saving them',
        description:
          'Signs in, counts the users and shows some of them, within 15 s. Trouble with the directory is part of the answer: `ok` is false and `error` says why. A missing, blank or masked `bindPassword` takes the stored one, as long as it goes where it was stored for. Ten tries a minute for a tenant, each in the audit log with the server it was for.',
        body: ReadableLdapConfigInput,
        response: { 200: LdapTest },
      },
    },
    (request) => testLdap(request.ctx, request.body),
  );

  app.get(
    '/ldap/groups',
    {
      config: {
        access,
        errors: { 409: ['DIRECTORY_NOT_CONFIGURED'], 429: ['RATE_LIMITED'], 502: ['DIRECTORY_UNAVAILABLE'] },
      },
      schema: {
        operationId: 'listLiveGroups',
        tags,
        summary: 'Find groups and units in the directory',
        description:
          'As they are now below the base, by name, 200 at most: what may go into `includeDns`. Containers of Active Directory count as units. Needs saved settings, switched on or not. Two at a time for a tenant, together with tries of settings; three more wait, the next is 429.',
        querystring: z.object({ search: line().optional().describe('Part of the name') }),
        response: { 200: z.array(LiveGroup) },
      },
    },
    (request) => listLiveGroups(request.ctx, request.query),
  );

  app.get(
    '/ldap/mappings',
    {
      config: { access },
      schema: {
        operationId: 'listLdapMappings',
        tags,
        summary: 'List how entries become accounts',
        description:
          'Of the attributes for one field the first that has a value fills it: one’s own mappings in the order they were added, then the defaults, which are always there. The username falls back to `uid`, first and last name to `givenName` and `sn`.',
        response: { 200: z.array(LdapMapping) },
      },
    },
    (request) => listLdapMappings(request.ctx),
  );

  app.post(
    '/ldap/mappings',
    {
      config: { access, errors: { 409: ['CONFLICT', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'addLdapMapping',
        tags,
        summary: 'Add a mapping',
        description:
          'One more attribute to fill a field from, before the defaults. The same attribute for the same field, in upper or lower case, is a conflict; 50 mappings are the limit. Attributes known to hold passwords or keys are refused.',
        body: LdapMappingInput,
        response: { 201: LdapMapping },
      },
    },
    async (request, reply) => {
      const mapping = await addLdapMapping(request.ctx, request.body);
      return reply.status(201).send(mapping);
    },
  );

  app.delete(
    '/ldap/mappings/:id',
    {
      config: { access, errors: { 409: ['CONFLICT'] } },
      schema: {
        operationId: 'deleteLdapMapping',
        tags,
        summary: 'Delete a mapping',
        description:
          'One of your own; a default is a conflict. The next synchronization fills the field from what is left.',
        params: z.object({ id: PathId }),
        response: { 204: NoContent },
      },
    },
    (request) => deleteLdapMapping(request.ctx, request.params.id),
  );
}
