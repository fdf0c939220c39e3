import { Trash } from 'lucide';
import users from '../accounts/users.module.css';
import { IconButton } from '../ui/button.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type Analysis, isCertificate } from './analysis.ts';
import { isArchive } from './chosen-files.ts';
import { texts } from './texts.ts';

interface FileTableProps {
  files: readonly File[];
  analysis: Analysis | null;
  /** What still needs a password. */
  locked: Analysis['locked'];
  onRemove: (name: string) => void;
}

interface Row {
  name: string;
  chosen: File | null;
}

/** What became of each chosen file and of each file in an archive. */
export function FileTable({ files, analysis, locked, onRemove }: FileTableProps) {
  const t = texts.value;
  const names = new Set(files.map(({ name }) => name));
  const inArchives = [
    ...(analysis?.parts ?? []).flatMap((part) => part.files),
    ...(analysis?.rejected ?? []).map(({ file }) => file),
    ...locked.map(({ file }) => file),
  ].filter((name) => !names.has(name));
  const rows: Row[] = [
    ...files.map((chosen) => ({ name: chosen.name, chosen })),
    ...[...new Set(inArchives)].map((name) => ({ name, chosen: null })),
  ];
  return (
    <Table
      caption={t.files}
      columns={columnsOf(analysis, locked, onRemove)}
      rows={rows}
      rowKey={({ name }) => name}
      empty={null}
    />
  );
}

function columnsOf(
  analysis: Analysis | null,
  locked: Analysis['locked'],
  onRemove: FileTableProps['onRemove'],
): Column<Row>[] {
  const t = texts.value;
  return [
    { key: 'name', label: t.file, cell: ({ name }) => name },
    { key: 'content', label: t.content, cell: (row) => <Content {...row} analysis={analysis} locked={locked} /> },
    {
      key: 'remove',
      label: '',
      align: 'end',
      cell: ({ name, chosen }) =>
        chosen && <IconButton icon={Trash} label={t.remove(name)} onClick={() => onRemove(name)} />,
    },
  ];
}

function Content({ name, chosen, analysis, locked }: Row & Pick<FileTableProps, 'analysis' | 'locked'>) {
  const t = texts.value;
  if (!analysis) return <Status kind="unknown">{t.nothingYet}</Status>;
  const parts = analysis.parts.filter(({ files }) => files.includes(name));
  const counts = {
    certificate: parts.filter(isCertificate).length,
    key: parts.filter(({ kind }) => kind === 'key').length,
    csr: parts.filter(({ kind }) => kind === 'csr').length,
  };
  const found = (['certificate', 'key', 'csr'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => t.counts[kind](counts[kind]));
  const others = [...new Set(parts.flatMap(({ files }) => files))].filter((other) => other !== name);
  const lock = locked.find(({ file }) => file === name);
  const rejected = analysis.rejected.filter(({ file }) => file === name);
  const hasIgnored = analysis.warnings.some(
    ({ part, message }) => part === null && message.startsWith(`${name}: `) && message.endsWith(' was ignored.'),
  );
  if (found.length === 0 && !lock && rejected.length === 0 && chosen && isArchive(chosen)) return <>{t.archive}</>;
  return (
    <div class={users.stack}>
      {found.length > 0 && <Status kind="ok">{found.join(', ')}</Status>}
      {others.length > 0 && <Status kind="info">{t.alsoIn(others.join(', '))}</Status>}
      {lock && <Status kind="warning">{t.lockedReasons[lock.reason]}</Status>}
      {rejected.map(({ reason, hint }) => (
        <Status key={reason} kind="error">
          {t.rejectedReasons[reason]}: {hintInWords(hint)}
        </Status>
      ))}
      {hasIgnored && <Status kind="info">{t.ignored}</Status>}
    </div>
  );
}

/** The hints of the service are English sentences. */
function hintInWords(hint: string): string {
  const { hints } = texts.value;
  const known: [RegExp, string][] = [
    [/OpenSSH public/, hints.sshPublic],
    [/OpenSSH/, hints.openSsh],
    [/Java key store/, hints.javaStore],
    [/no certificate, key/, hints.nothing],
    [/encryption is not|Algorithm/i, hints.encryption],
    [/archive/i, hints.archive],
    [/damaged|incomplete|cannot be read|does not match/i, hints.damaged],
    [/at most|Only the first/, hints.large],
  ];
  return known.find(([pattern]) => pattern.test(hint))?.[1] ?? hint;
}
