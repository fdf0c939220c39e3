import { X } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import users from '../accounts/users.module.css';
import { formatBytes, formatNumber } from '../language.ts';
import { portal } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button } from '../ui/button.tsx';
import { FileField, PasswordField } from '../ui/field.tsx';
import { heldFile } from '../ui/file-transfer.ts';
import { Form } from '../ui/form.tsx';
import { Card, Page } from '../ui/page.tsx';
import { UploadState, useUpload } from '../ui/upload.tsx';
import { type Analysis, limits } from './analysis.ts';
import { ChainView } from './chain-view.tsx';
import { distinctName, isArchive, withOpened } from './chosen-files.ts';
import { FileTable } from './file-table.tsx';
import { MissingList } from './missing-list.tsx';
import { texts } from './texts.ts';

interface Request {
  files: File[];
  password: string;
}

/** Checks and converts certificates. Files, passwords and keys are in the memory of this page only. */
export function CertificatesPage() {
  const t = texts.value;
  const [files, setFiles] = useState<File[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [failedPassword, setFailedPassword] = useState(false);
  /** The parts of each file that a password opened, as PEM. So the next password can open others. */
  const opened = useRef(new Map<string, string>());
  const upload = useUpload(({ files, password }: Request, signal) =>
    portal.post('/certificates/analyze', {
      body: { files: withOpened(files, opened.current), ...(password !== '' && { password }) },
      signal,
    }),
  );
  const analysis = files.length > 0 ? upload.data : null;
  const locked = (analysis?.locked ?? []).filter(({ file }) => !isOpened(file, opened.current));

  const analyze = async (next: File[], password = '') => {
    setFailedPassword(false);
    const before = new Set(locked.map(({ file }) => file));
    const answer = await upload.send({ files: next, password });
    if (!answer || password === '') return;
    const still = new Set(answer.locked.map(({ file }) => file));
    for (const file of before) if (!still.has(file)) opened.current.set(file, pemOf(answer, file));
    setFailedPassword([...before].every((file) => still.has(file)));
  };
  const add = async (chosen: File[]) => {
    setProblem(null);
    const fault = faultOf([...files, ...chosen], chosen);
    if (fault) return setProblem(fault);
    const next = [...files];
    for (const file of chosen) {
      const name = distinctName(file.name, next);
      const held = await heldFile(file, name).catch(() => null);
      if (!held) return setProblem(t.unreadable(file.name));
      next.push(held);
    }
    setFiles(next);
    await analyze(next);
  };
  const clear = () => {
    setFiles([]);
    setProblem(null);
    opened.current.clear();
    upload.reset();
  };
  const remove = (name: string) => {
    const next = files.filter((file) => file.name !== name);
    opened.current.delete(name);
    if (next.length === 0) return clear();
    setFiles(next);
    return void analyze(next);
  };

  return (
    <Page title={pageNames.value.certificates} intro={t.intro}>
      <Card
        title={t.files}
        actions={
          files.length > 0 && (
            <Button icon={X} onClick={clear}>
              {t.clear}
            </Button>
          )
        }
      >
        <FileField
          label={t.choose}
          // Names say little about certificates, so all files can be chosen.
          accept=""
          multiple
          onFiles={(chosen) => void add(chosen)}
          busy={upload.isSending}
          hint={t.limits(formatBytes(limits.fileBytes), formatBytes(limits.requestBytes))}
          error={problem ?? undefined}
        />
        <UploadState upload={upload} onRetry={() => void analyze(files)} />
        {files.length > 0 && <FileTable files={files} analysis={analysis} onRemove={remove} locked={locked} />}
        {locked.length > 0 && (
          <Unlock
            key={locked.map(({ file }) => file).join()}
            names={locked.map(({ file }) => file)}
            isWrong={failedPassword}
            onUnlock={(password) => analyze(files, password)}
          />
        )}
      </Card>
      <div role="status" class={users.stack}>
        {analysis && analysis.parts.length === 0 && locked.length === 0 && !upload.isSending && <p>{t.nothingFound}</p>}
        {analysis && <MissingList analysis={analysis} />}
      </div>
      {analysis && analysis.parts.length > 0 && <ChainView analysis={analysis} />}
    </Page>
  );
}

interface UnlockProps {
  names: readonly string[];
  isWrong: boolean;
  onUnlock: (password: string) => Promise<unknown>;
}

function Unlock({ names, isWrong, onUnlock }: UnlockProps) {
  const t = texts.value;
  const [password, setPassword] = useState('');
  return (
    <Form
      label={t.unlock}
      onSubmit={async () => {
        if (password !== '') await onUnlock(password);
      }}
      actions={
        <Button type="submit" kind="primary" disabled={password === ''}>
          {t.open}
        </Button>
      }
    >
      <p>{t.unlockText(names.join(', '))}</p>
      <PasswordField
        label={t.password}
        name="password"
        // Not the password of an account, which a browser would offer.
        autocomplete="new-password"
        value={password}
        onInput={setPassword}
        hint={names.length > 1 && t.passwordHint}
        error={isWrong ? t.passwordWrong : undefined}
        autofocus
      />
    </Form>
  );
}

const isOpened = (file: string, opened: ReadonlyMap<string, string>): boolean =>
  [...opened.keys()].some((name) => file === name || file.endsWith(`/${name}`) || name.endsWith(`/${file}`));

const pemOf = ({ parts }: Analysis, file: string): string =>
  parts
    .filter(({ files }) => files.includes(file))
    .map(({ pem }) => pem)
    .join('\n');

/** What the service would refuse, before anything is sent. */
function faultOf(all: readonly File[], chosen: readonly File[]): string | null {
  const t = texts.value;
  if (all.length > limits.files) return t.tooMany(formatNumber(all.length));
  const large = chosen.find((file) => !isArchive(file) && file.size > limits.fileBytes);
  if (large) return t.tooLarge(large.name, formatBytes(limits.fileBytes));
  const size = all.reduce((sum, file) => sum + file.size, 0);
  // The frame of a form needs some room, too.
  return size > limits.requestBytes - all.length * 1_024 ? t.allTooLarge(formatBytes(limits.requestBytes)) : null;
}
