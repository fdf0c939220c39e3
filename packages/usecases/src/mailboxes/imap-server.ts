import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import type { ImapServer } from '@portal/connectors/imap/mailbox';
import { type ImapSettings, imapTarget } from '@portal/domain/imap';
import type { SecretInput } from '@portal/domain/secret-input';
import type { TenantContext } from '@portal/platform/context';
import { UnreadableSecretError } from '@portal/platform/secrets/sealed';
import type { StoredSecret } from '@portal/platform/secrets/stored-secret';

/**
 * A mailbox with these settings, and with its stored password unless the input replaces or removes it. Throws 400 `SECRET_REQUIRED` if
 * the password was stored for another target, and an ImapFailure if no key of this process opens it.
 */
export function imapServerAt(
  ctx: Pick<TenantContext, 'tenantId' | 'log'>,
  { host, port, security, username, caCertificatePem }: ImapSettings,
  { stored, input, policy }: { stored: StoredSecret; input: SecretInput; policy: AddressPolicy },
): ImapServer {
  const settings = { host, port, security, username, caCertificatePem };
  try {
    return { ...settings, password: stored.for(imapTarget(settings), input), policy };
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    ctx.log.error({ err: error, tenantId: ctx.tenantId }, 'the password of a mailbox cannot be read');
    throw new ImapFailure(
      'unauthorized',
      settings,
      'was not asked, because the stored password cannot be read any more. Please enter it again.',
    );
  }
}
