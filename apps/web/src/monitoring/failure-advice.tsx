import type { Server } from '@portal/client/interface';
import tile from '../dashboards/widgets/tile.module.css';
import { CopyButton } from '../ui/copy-button.tsx';
import { Status } from '../ui/status.tsx';
import { texts } from './form-texts.ts';
import type { Failure, ServerKind } from './servers.ts';

interface FailureAdviceProps {
  failure: Failure;
  kind: ServerKind;
  authMethod: Server['authMethod'];
  /** The token or user that the portal signs in with. */
  account: string | null;
  /** The sentence of the service; English. */
  message: string | null;
}

/** Why a server could not be read, and what to do about it. */
export function FailureAdvice({ failure, kind, authMethod, account, message }: FailureAdviceProps) {
  const t = texts.value;
  return (
    <>
      <Status kind="error">
        <strong>{t.failures[failure]}</strong>
      </Status>
      {failure === 'rechte' ? (
        <RightsAdvice kind={kind} account={account} />
      ) : (
        <p>{failure === 'zugang' ? t.advice.zugang[authMethod] : t.advice[failure]}</p>
      )}
      {failure === 'zertifikat' && (
        <p>
          {t.caWhere[kind]} <code>{certificateFiles[kind]}</code>
        </p>
      )}
      {message !== null && (
        <p class={tile.muted}>
          {t.said} <span lang="en">{message}</span>
        </p>
      )}
    </>
  );
}

const certificateFiles: Record<ServerKind, string> = {
  virtualization: '/etc/pve/pve-root-ca.pem',
  backup: '/etc/proxmox-backup/proxy.pem',
  'mail-gateway': '/etc/pmg/pmg-api.pem',
};

/** How to give the account the rights that the checks need. */
export function RightsAdvice({ kind, account }: Pick<FailureAdviceProps, 'kind' | 'account'>) {
  const t = texts.value.rights[kind];
  const commands = commandsFor(kind, account);
  return (
    <>
      <p>{t.text}</p>
      {commands !== '' && (
        <div>
          <pre style={{ margin: 0, whiteSpace: 'pre-wrap' }}>{commands}</pre>
          <CopyButton text={commands} />
        </div>
      )}
      <p class={tile.muted}>{t.more}</p>
    </>
  );
}

/** A token has at most the rights of its user, so both get the role. */
function commandsFor(kind: ServerKind, account: string | null): string {
  if (kind === 'mail-gateway') return '';
  const name = /^[\w.@!-]+$/.test(account ?? '') ? (account ?? '') : exampleOf[kind];
  const [user = name] = name.split('!');
  const isToken = name !== user;
  const lines =
    kind === 'virtualization'
      ? [
          `pveum acl modify / --users '${user}' --roles PVEAuditor`,
          isToken && `pveum acl modify / --tokens '${name}' --roles PVEAuditor`,
        ]
      : (isToken ? [user, name] : [user]).flatMap((one) => [
          `proxmox-backup-manager acl update / Audit --auth-id '${one}'`,
          `proxmox-backup-manager acl update /remote RemoteAudit --auth-id '${one}'`,
        ]);
  return lines.filter(Boolean).join('\n');
}

const exampleOf = { virtualization: 'portal@pve!monitoring', backup: 'portal@pbs!monitoring' };
