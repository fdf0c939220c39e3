import { z } from 'zod';
import { role } from '@portal/domain/access';
import { LdapConfig, LdapMapping, LdapMappingInput, LdapTest, LiveGroup } from '@portal/domain/directory/config';
import { line } from '@portal/domain/text';
import { deleteLdapConfig, getLdapConfig, putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { ReadableLdapConfigInput } from '@portal/usecases/directory/ldap-config';
import { addLdapMapping, deleteLdapMapping, listLdapMappings } from '@portal/usecases/directory/ldap-mappings';
import { listLiveGroups } from '@portal/usecases/directory/list-live-groups';
import { testLdap } from '@portal/usecases/directory/test-ldap';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['directory'];
const access = role('ADMIN');

/** Routes for the directory settings and mappings of a tenant. */
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
          'Fields are null or empty lists while nothing is set. `bindPassword` is the mask `********` if a password is stored, otherwise null.',
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
          'A missing, blank or masked `bindPassword` keeps the stored one, but only with the server, `bindDn` and encryption it was stored for, or a safer encryption; otherwise the answer is 400 `SECRET_REQUIRED`. Another certificate authority counts as another encryption. Null removes it. Without `bindDn` or a password the bind is anonymous. `startTls` is allowed with `ldap://` only. Duplicate entries of lists are removed. The new `syncIntervalMin` and `isActive` apply to the next synchronization at once. While `isActive` is false, no directory account can sign in.',
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
          'Deletes the server and its password and stops synchronizations. Accounts and groups from the directory are kept, but these accounts can no longer sign in. The mappings and the history of runs are kept, too.',
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
        summary: 'Test directory settings before saving them',
        description:
          'Signs in, counts the users and returns some of them, within 15 s. If the directory fails, the answer is still 200: `ok` is false and `error` says why. If `bindPassword` is missing, blank or masked, the stored password is used, but only for the server it was stored for. A tenant can make ten tests per minute; each test is recorded in the audit log with its server.',
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
        summary: 'Search groups and organizational units in the directory',
        description:
          'Returns the current groups and units below the base, by name, at most 200: the values allowed in `includeDns`. Containers of Active Directory count as units. Needs saved settings; they may be switched off. For each tenant two of these searches and tests of settings run at a time and three more wait; the next one answers 429.',
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
        summary: 'List the attribute mappings',
        description:
          'Mappings say which directory attribute fills which field of an account. The first attribute that has a value is used: first your own mappings in the order they were added, then the defaults, which always exist. The username falls back to `uid`, first and last name to `givenName` and `sn`.',
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
          'Adds another attribute that can fill a field; it is used before the defaults. 409 if the field already has this attribute, regardless of case. A tenant has at most 50 mappings. Attributes known to contain passwords or keys are refused.',
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
          'Only your own mappings can be deleted; a default answers 409. The next synchronization fills the field from the remaining mappings.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteLdapMapping(request.ctx, request.params.id),
  );
}
