import { FileKey, FileDown, KeyRound } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import facts from '../accounts/facts.module.css';
import users from '../accounts/users.module.css';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import {
  type Analysis,
  isCertificate,
  nameOf,
  type Part,
  partnersOf,
  shownFingerprint,
  validityOf,
  type Warning,
} from './analysis.ts';
import s from './certificates.module.css';
import { type Branch, type ChainTrees, chainTrees } from './chain-tree.ts';
import { ExportDialog } from './export-dialog.tsx';
import { texts } from './texts.ts';

interface Shown {
  analysis: Analysis;
  trees: ChainTrees;
  onExport: (part: Part) => void;
}

/** The chains as trees, from the root down to the server, with the keys and requests that belong to each certificate. */
export function ChainView({ analysis }: { analysis: Analysis }) {
  const t = texts.value;
  const [exported, setExported] = useState<Part | null>(null);
  const trees = chainTrees(analysis);
  const shown: Shown = { analysis, trees, onExport: setExported };
  return (
    <>
      {trees.trees.length > 0 && (
        <Card title={t.chains}>
          <Branches branches={trees.trees} shown={shown} />
        </Card>
      )}
      {trees.loose.length > 0 && (
        <Card title={t.looseTitle}>
          <ul class={s.tree}>
            {trees.loose.map((part) => (
              <li key={part.id}>
                <PartNode part={part} shown={shown} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {exported && <ExportDialog part={exported} analysis={analysis} onClose={() => setExported(null)} />}
    </>
  );
}

function Branches({ branches, shown }: { branches: readonly Branch[]; shown: Shown }) {
  const t = texts.value;
  return (
    <ul class={s.tree}>
      {branches.map(({ key, part, missing, children }) => (
        <li key={key}>
          {missing && (
            <div class={s.node} data-missing>
              <div class={users.buttons}>
                <Badge>{t.kinds[missing.kind]}</Badge>
                <strong dir="auto">{missing.name}</strong>
                <Status kind={missing.kind === 'root' ? 'unknown' : 'error'}>{t.ghost}</Status>
              </div>
            </div>
          )}
          {part && <PartNode part={part} shown={shown} />}
          {children.length > 0 && <Branches branches={children} shown={shown} />}
        </li>
      ))}
    </ul>
  );
}

const badges = { server: 'accent', intermediate: 'neutral', root: 'neutral', key: 'info', csr: 'info' } as const;

function PartNode({ part, shown: { analysis, trees, onExport } }: { part: Part; shown: Shown }) {
  const t = texts.value;
  const name = nameOf(part);
  const [key] = partnersOf(part, 'key', analysis);
  const [request] = partnersOf(part, 'csr', analysis);
  const names = new Map(analysis.parts.map((each) => [each.id, nameOf(each)]));
  return (
    <div class={s.node}>
      <div class={users.buttons}>
        <Badge kind={badges[part.kind]}>{t.kinds[part.kind]}</Badge>
        <strong dir="auto">{name}</strong>
        {isCertificate(part) && <ValidityStatus part={part} />}
        <span class={users.muted}>{part.keyType}</span>
        <Button size="small" icon={FileDown} aria-label={t.exportOf(name)} onClick={() => onExport(part)}>
          {t.export}
        </Button>
      </div>
      {part.sans.length > 0 && (
        <p class={users.muted}>
          {part.sans.slice(0, shownNames).join(', ')}
          {part.sans.length > shownNames && ' …'}
        </p>
      )}
      {(part.kind === 'server' || key || request) && part.kind !== 'key' && (
        <div class={users.buttons}>
          {key ? (
            <Badge kind="ok">
              <Icon icon={KeyRound} size={12} /> {t.hasKey}: {key.keyType}, {key.files.join(', ')}
            </Badge>
          ) : (
            part.kind === 'server' && <Status kind="warning">{t.noKey}</Status>
          )}
          {request && (
            <Badge kind="ok">
              <Icon icon={FileKey} size={12} /> {t.hasRequest}: {request.files.join(', ')}
            </Badge>
          )}
        </div>
      )}
      {warningsOf(part, analysis).map(({ code }) => (
        <Status key={code} kind={kindOf(code)}>
          {t.warnings[code]}
        </Status>
      ))}
      {trees.alternatives.get(part.id)?.map(({ path }) => (
        <p key={path.join()} class={users.muted}>
          {t.alternative(
            path
              .toReversed()
              .map((id) => names.get(id) ?? '?')
              .join(' → '),
          )}
        </p>
      ))}
      <details open={part.kind === 'server' && analysis.parts.length <= fewParts}>
        <summary>{t.details}</summary>
        <PartFacts part={part} />
      </details>
    </div>
  );
}

const shownNames = 5;
/** Up to so many parts, the details of the servers are open. */
const fewParts = 8;

function ValidityStatus({ part }: { part: Part }) {
  const { state, days } = validityOf(part);
  const kinds = { valid: 'ok', soon: 'warning', expired: 'error', notYet: 'warning', unknown: 'unknown' } as const;
  return <Status kind={kinds[state]}>{texts.value.validities[state](days)}</Status>;
}

function PartFacts({ part }: { part: Part }) {
  const t = texts.value;
  const { kind, subject, issuer, sans, notBefore, notAfter, keyType, serialNumber, sha256, files } = part;
  const rows: [string, ComponentChildren][] = [
    ...(kind === 'key' ? [] : [[t.subject, subject ?? t.none] satisfies [string, string]]),
    ...(isCertificate(part) ? [[t.issuer, issuer ?? t.none] satisfies [string, string]] : []),
    ...(sans.length > 0 ? [[t.names, sans.join(', ')] satisfies [string, string]] : []),
    ...(notBefore ? [[t.validFrom, <Time key="from" value={notBefore} />] as [string, ComponentChildren]] : []),
    ...(notAfter ? [[t.validTo, <Time key="to" value={notAfter} />] as [string, ComponentChildren]] : []),
    [t.key, keyType],
    ...(serialNumber ? [[t.serial, serialNumber] satisfies [string, string]] : []),
    [
      kind === 'key' ? t.publicKeyPrint : t.fingerprint,
      <>
        <code>{shownFingerprint(sha256)}</code>{' '}
        <CopyButton text={shownFingerprint(sha256)}>{t.copyFingerprint}</CopyButton>
      </>,
    ],
    [t.foundIn, files.join(', ')],
  ];
  return (
    <dl class={facts.facts}>
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Told elsewhere: as the validity, as a key beside the certificate, as a missing issuer. */
const toldElsewhere: ReadonlySet<Warning['code']> = new Set<Warning['code']>([
  'EXPIRED',
  'EXPIRES_SOON',
  'NOT_YET_VALID',
  'KEY_MISSING',
  'CHAIN_INCOMPLETE',
  'ROOT_MISSING',
]);

const warningsOf = ({ id }: Part, { warnings }: Analysis): Warning[] => {
  const own = warnings.filter(({ part, code }) => part === id && !toldElsewhere.has(code));
  return [...new Map(own.map((warning) => [warning.code, warning])).values()];
};

function kindOf(code: Warning['code']): 'info' | 'warning' | 'error' {
  if (code === 'WILDCARD' || code === 'LONG_VALIDITY' || code === 'MULTIPLE_CHAINS') return 'info';
  return code === 'WEAK_KEY' || code === 'WEAK_SIGNATURE' || code === 'NO_SAN' ? 'error' : 'warning';
}
