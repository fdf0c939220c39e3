import users from '../accounts/users.module.css';
import { CopyButton } from '../ui/copy-button.tsx';
import { Card } from '../ui/page.tsx';
import { Status, type StatusKind } from '../ui/status.tsx';
import { type Analysis, nameOf } from './analysis.ts';
import { chainTrees, type MissingIssuer } from './chain-tree.ts';
import { texts } from './texts.ts';

interface Gap {
  key: string;
  kind: StatusKind;
  title: string;
  text: string;
  address?: string | null;
}

/** What the files lack, and what to do about it. */
export function MissingList({ analysis }: { analysis: Analysis }) {
  const t = texts.value;
  const gaps = gapsOf(analysis);
  if (analysis.parts.length === 0) return null;
  // A root that is missing is no reason to worry.
  const isFine = gaps.every(({ kind }) => kind === 'info') && analysis.parts.some(({ kind }) => kind === 'server');
  return (
    <Card title={t.missing}>
      {isFine && <Status kind="ok">{t.nothingMissing}</Status>}
      {gaps.map(({ key, kind, title, text, address }) => (
        <div key={key}>
          <Status kind={kind}>
            <strong>{title}</strong>
          </Status>
          <p class={users.muted}>{text}</p>
          {address && (
            <div class={users.buttons}>
              <span>
                {t.available} <code>{address}</code>
              </span>
              <CopyButton text={address}>{t.copyAddress}</CopyButton>
            </div>
          )}
        </div>
      ))}
    </Card>
  );
}

function gapsOf(analysis: Analysis): Gap[] {
  const t = texts.value;
  const { trees, loose } = chainTrees(analysis);
  const hasServers = analysis.parts.some(({ kind }) => kind === 'server');
  return [
    ...trees.flatMap(({ key, missing }) => (missing ? [{ key, ...issuerGap(missing) }] : [])),
    ...analysis.parts
      .filter(({ warnings }) => warnings.some(({ code }) => code === 'KEY_MISSING'))
      .map((part): Gap => ({
        key: `key ${part.id}`,
        kind: 'warning',
        title: t.missingKey(nameOf(part)),
        text: t.missingKeyText,
      })),
    ...loose.map((part): Gap => {
      const key = `loose ${part.id}`;
      return part.kind === 'key'
        ? {
            key,
            kind: hasServers ? 'warning' : 'info',
            title: t.strayKey(part.files[0] ?? ''),
            text: t.strayKeyText,
          }
        : { key, kind: 'info', title: t.pendingRequest(nameOf(part)), text: t.pendingRequestText };
    }),
  ];
}

function issuerGap({ kind, name, issued, address }: MissingIssuer): Omit<Gap, 'key'> {
  const t = texts.value;
  return kind === 'root'
    ? { kind: 'info', title: t.missingRoot(name), text: t.missingRootText, address }
    : { kind: 'error', title: t.missingIntermediate(name, nameOf(issued)), text: t.missingIntermediateText, address };
}
