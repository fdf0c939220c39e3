import { z } from 'zod';
import { CaCertificatePem } from '../ca-certificates.ts';
import { invalidField } from '../errors.ts';
import { FailureClass } from '../failure-class.ts';
import { Id } from '../ids.ts';
import { SecretInput, secretChange } from '../secret-input.ts';
import type { SecretTarget } from '../secret-target.ts';
import { line, requiredLine } from '../text.ts';
import { Instant } from '../time.ts';

export const ServerKind = z.enum(['virtualization', 'backup', 'mail-gateway']);
export type ServerKind = z.output<typeof ServerKind>;

/** From best to worst. Unknown is not `ok`, but better than a warning. */
export const ServerState = z.enum(['ok', 'unknown', 'warning', 'critical']);
export type ServerState = z.output<typeof ServerState>;

const rank: Record<ServerState, number> = { ok: 0, unknown: 1, warning: 2, critical: 3 };

export const worstOf = (states: Iterable<ServerState>): ServerState =>
  [...states].reduce((worst, state) => (rank[state] > rank[worst] ? state : worst), 'ok');

export const isWorse = (one: ServerState, other: ServerState): boolean => rank[one] > rank[other];

/** The port of each product if the address has none. */
const defaultPort: Record<ServerKind, number> = { virtualization: 8006, backup: 8007, 'mail-gateway': 8006 };

const addressForm = /^https:\/\/(\[[0-9a-f:.]+\]|[^/?#@\s:\\]+)(?::(\d{1,5}))?\/?$/i;

function isServerAddress(address: string): boolean {
  const [, host, port] = addressForm.exec(address) ?? [];
  return host !== undefined && URL.parse(address) !== null && (port === undefined || Number(port) > 0);
}

/** `https://host:port`, in lower case and always with the port, so that equal addresses compare as equal. */
export function serverAddress({ kind, address }: { kind: ServerKind; address: string }): string {
  const [, , port] = addressForm.exec(address) ?? [];
  return `https://${new URL(address).hostname}:${Number(port ?? defaultPort[kind])}`;
}

/** `user@realm!name`, as all products write it. */
const tokenIdForm = /^[^\s!@:=/]+@[A-Za-z0-9._-]+![A-Za-z0-9._-]+$/;
const usernameForm = /^[^\s:/]+@[A-Za-z0-9._-]+$/;

const optionalLine = line()
  .nullable()
  .overwrite((value) => (value === '' ? null : value))
  .default(null);

const example = {
  kind: 'virtualization' as const,
  name: 'Cluster Nord',
  address: 'https://pve1.example.org:8006',
  authMethod: 'token' as const,
  tokenId: 'portal@pve!monitoring',
  username: null,
  verifyTls: true,
  caCertificatePem: null,
  pollIntervalMin: 5,
  isActive: true,
};

const fields = {
  kind: ServerKind,
  name: requiredLine(),
  address: requiredLine(300)
    .refine(isServerAddress, 'must be https:// with a host and, if needed, a port')
    .describe('`https://` and a host; without a port the default port of the server’s product is used'),
  authMethod: z.enum(['token', 'password']),
  tokenId: optionalLine.describe('`user@realm!name`, with `authMethod` `token`'),
  tokenSecret: SecretInput,
  username: optionalLine.describe('`user@realm`, with `authMethod` `password`'),
  password: SecretInput,
  verifyTls: z.boolean().default(true).describe('Whether the server has to show a valid certificate'),
  caCertificatePem: CaCertificatePem,
  pollIntervalMin: z
    .int()
    .min(1)
    .max(1_440)
    .default(5)
    .describe('The smallest interval of all active servers applies to all of them'),
  isActive: z.boolean().default(true),
};

/** A server as an administrator enters it. A PUT replaces everything except stored secrets. */
export const ServerInput = z
  .object(fields)
  .meta({ example: { ...example, tokenSecret: '0f7d0c6e-2f6d-4a53-9a5e-1d2c3b4a5968' } });
export type ServerInput = z.output<typeof ServerInput>;

/** The same form, to test it before saving. */
export const ServerTestInput = z
  .object({
    ...fields,
    name: line().default(''),
    id: Id.nullish().describe('Id of a stored server whose secrets are used for blank ones'),
  })
  .meta({ example: { ...example, tokenSecret: '0f7d0c6e-2f6d-4a53-9a5e-1d2c3b4a5968' } });
export type ServerTestInput = z.output<typeof ServerTestInput>;

/** The account name of the method in use; the other method’s is not stored. */
export const accountOf = ({
  authMethod,
  tokenId,
  username,
}: Pick<ServerInput, 'authMethod' | 'tokenId' | 'username'>): string | null =>
  authMethod === 'token' ? tokenId : username;

export const secretFieldOf = ({ authMethod }: Pick<ServerInput, 'authMethod'>): 'tokenSecret' | 'password' =>
  authMethod === 'token' ? 'tokenSecret' : 'password';

/** Where the secret of a server is sent. */
export function serverTarget(
  server: Pick<
    ServerInput,
    'kind' | 'address' | 'authMethod' | 'tokenId' | 'username' | 'verifyTls' | 'caCertificatePem'
  >,
): SecretTarget {
  const address = serverAddress(server);
  return {
    scheme: 'https',
    host: new URL(address).hostname,
    port: Number(address.slice(address.lastIndexOf(':') + 1)),
    account: accountOf(server),
    encryption: 'tls',
    verifiesCertificate: server.verifyTls,
    authorities: server.caCertificatePem,
  };
}

/** The separator of each product between a token and its secret. With the wrong one, the server would refuse every sign-in. */
const separatorOf: Record<ServerKind, string> = { virtualization: '=', backup: ':', 'mail-gateway': '' };

type Form = Omit<ServerInput, 'name'>;

/**
 * The form in its stored spelling: the address has a port, a token pasted in full is split, and the unused method is empty. Throws 400
 * if kind, method and account do not fit together, with `TOKEN_NOT_SUPPORTED` for a mail gateway with a token.
 */
export function checkedServer<Input extends Form>(input: Input): Input {
  if (input.kind === 'mail-gateway' && input.authMethod === 'token')
    throw invalidField(
      'authMethod',
      'must be password, because mail gateways do not support API tokens',
      'TOKEN_NOT_SUPPORTED',
    );
  const address = serverAddress(input);
  if (input.authMethod === 'password') {
    if (input.username === null || !usernameForm.test(input.username))
      throw invalidField('username', 'must be a name with its realm, such as portal@pam');
    return { ...input, address, tokenId: null, tokenSecret: null };
  }
  const token = splitToken(input);
  // It is sent in a header.
  if (secretChange(token.tokenSecret).kind === 'set' && !/^[\x21-\x7e]+$/.test(token.tokenSecret ?? ''))
    throw invalidField('tokenSecret', 'must not contain blanks or special characters');
  if (token.tokenId === null || !tokenIdForm.test(token.tokenId))
    throw invalidField('tokenId', 'must be a token with user and realm, such as portal@pve!monitoring');
  return { ...input, ...token, address, username: null, password: null };
}

/** Products show a token and its secret as one text, so administrators paste it as one. */
function splitToken({ kind, tokenId, tokenSecret }: Form): Pick<Form, 'tokenId' | 'tokenSecret'> {
  const pasted = /^(?:P[VB]EAPIToken[= ]|PBSAPIToken[= ])?([^\s!@:=/]+@[\w.-]+![\w.-]+)([:=])(\S+)$/.exec(
    tokenSecret ?? '',
  );
  const [, pastedId = null, separator, secret] = pasted ?? [];
  if (pastedId === null || secret === undefined) return { tokenId, tokenSecret };
  if (tokenId !== null && tokenId !== pastedId)
    throw invalidField('tokenSecret', 'belongs to another token than tokenId');
  if (separator !== separatorOf[kind])
    throw invalidField(
      'tokenSecret',
      `has ${separator} between token and secret, which does not fit this kind of server`,
    );
  return { tokenId: pastedId, tokenSecret: secret };
}

/** Throws 400 `SECRET_REQUIRED` if the form has no secret for its method and none is stored. */
export function checkSecret(input: Form, hasStored: boolean): void {
  const field = secretFieldOf(input);
  const { kind } = secretChange(input[field]);
  if (kind === 'remove' || (kind === 'keep' && !hasStored))
    throw invalidField(field, 'must be entered', 'SECRET_REQUIRED');
}

/** An instant in a stored status document. It stays text. */
const StoredInstant = z.iso.datetime();

export const StatusRule = z.object({
  key: z.string().describe('`quorum`, `storage:nas`, `guest:101` …'),
  state: ServerState,
  value: z.number().nullable().describe('The value compared with the limits; null if it is not a number'),
  since: StoredInstant.describe('Since when it has this state'),
  text: z.string().describe('One English sentence'),
});
export type StatusRule = z.output<typeof StatusRule>;

export const StatusFact = z.object({
  key: z.string(),
  label: z.string(),
  value: z.union([z.number(), z.string()]),
  unit: z.enum(['bytes', 'percent', 'seconds', 'count']).nullable(),
  readAt: StoredInstant.describe('When these facts were read; a server that was not reached keeps its last facts'),
});
export type StatusFact = z.output<typeof StatusFact>;

/** What this check did not examine, or could not and did not need to. */
export const NotExamined = z.object({
  count: z.int(),
  items: z.array(z.object({ what: z.string(), why: z.string() })).describe('The first entries by name'),
});
export type NotExamined = z.output<typeof NotExamined>;

export const StateChange = z.object({ at: StoredInstant, from: ServerState, to: ServerState, text: z.string() });
export type StateChange = z.output<typeof StateChange>;

export const ServerStatus = z
  .object({
    state: ServerState,
    failure: FailureClass.nullable(),
    message: z.string().nullable().describe('Why the state is not `ok`; null if it is `ok`'),
    checkedAt: Instant.nullable().describe('Time of the last attempt; null before the first'),
    lastOkAt: Instant.nullable().describe('Time of the last successful check'),
    headline: z.string(),
    facts: z.array(StatusFact),
    rules: z.array(StatusRule).describe('Worst first'),
    notExamined: NotExamined,
    changes: z.array(StateChange).describe('The last 20 changes of state, newest first'),
  })
  .meta({ id: 'ServerStatus' });
export type ServerStatus = z.output<typeof ServerStatus>;

const exampleAt = '2026-11-20T08:30:00.000Z';
const exampleId = '0198d3cc-5e6f-7a81-9b2c-3d4e5f607182';

export const Server = z
  .object({
    id: Id,
    kind: ServerKind,
    name: z.string(),
    address: z.string().describe('Including the port'),
    authMethod: z.enum(['token', 'password']),
    tokenId: z.string().nullable(),
    hasTokenSecret: z.boolean(),
    username: z.string().nullable(),
    hasPassword: z.boolean(),
    verifyTls: z.boolean(),
    caCertificatePem: z.string().nullable(),
    pollIntervalMin: z.int(),
    isActive: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
    status: ServerStatus,
  })
  .meta({
    id: 'Server',
    example: {
      id: exampleId,
      ...example,
      hasTokenSecret: true,
      hasPassword: false,
      createdAt: exampleAt,
      updatedAt: exampleAt,
      status: {
        state: 'warning',
        failure: null,
        message: 'Storage nas is 84 % full.',
        checkedAt: exampleAt,
        lastOkAt: exampleAt,
        headline: '3 of 3 nodes online, 24 of 26 guests running',
        facts: [{ key: 'nodes', label: 'Nodes online', value: 3, unit: 'count', readAt: exampleAt }],
        rules: [
          { key: 'storage:nas', state: 'warning', value: 84, since: exampleAt, text: 'Storage nas is 84 % full.' },
        ],
        notExamined: { count: 0, items: [] },
        changes: [{ at: exampleAt, from: 'ok', to: 'warning', text: 'Storage nas is 84 % full.' }],
      },
    },
  });
export type Server = z.output<typeof Server>;

export const ServerTestResult = z
  .object({
    ok: z.boolean(),
    failure: FailureClass.nullable(),
    version: z.string().nullable(),
    message: z.string().describe('What is wrong or which rights are missing, or a confirmation that everything works'),
  })
  .meta({
    id: 'ServerTestResult',
    example: { ok: true, failure: null, version: '9.2.11', message: 'Everything can be read.' },
  });
export type ServerTestResult = z.output<typeof ServerTestResult>;

/** The data of a tile. */
export const ServerTile = z
  .object({
    worst: ServerState.describe('Worst state of all active servers; `unknown` if there is none'),
    servers: z.array(
      z.object({
        id: Id,
        name: z.string(),
        kind: ServerKind,
        state: ServerState,
        failure: FailureClass.nullable(),
        message: z.string().nullable(),
        checkedAt: Instant.nullable(),
        headline: z.string(),
        facts: z.array(StatusFact),
      }),
    ),
  })
  .meta({
    id: 'ServerTile',
    example: {
      worst: 'ok',
      servers: [
        {
          id: exampleId,
          name: 'Cluster Nord',
          kind: 'virtualization',
          state: 'ok',
          failure: null,
          message: null,
          checkedAt: exampleAt,
          headline: '3 of 3 nodes online, 24 of 26 guests running',
          facts: [{ key: 'nodes', label: 'Nodes online', value: 3, unit: 'count', readAt: exampleAt }],
        },
      ],
    },
  });
export type ServerTile = z.output<typeof ServerTile>;
