import { FileX } from 'lucide';
import { useState } from 'preact/hooks';
import users from '../accounts/users.module.css';
import { formatBytes } from '../language.ts';
import { Button } from '../ui/button.tsx';
import { FileField } from '../ui/field.tsx';
import { heldFile } from '../ui/file-transfer.ts';
import { shared } from './shared-texts.ts';

/** The service takes no larger list. */
const maxBytes = 10 * 1024 * 1024;

interface ChosenFileProps {
  label: string;
  hint: string;
  accept: string;
  file: File | null;
  busy: boolean;
  onFile: (file: File | null) => void;
}

/** Chooses the list, which then stays in memory to be sent again for the export. */
export function ChosenFile({ label, hint, accept, file, busy, onFile }: ChosenFileProps) {
  const t = shared.value;
  const [problem, setProblem] = useState<string | null>(null);
  const take = async ([chosen]: File[]) => {
    if (!chosen) return;
    if (chosen.size > maxBytes) return setProblem(t.tooLarge(formatBytes(maxBytes)));
    const held = await heldFile(chosen).catch(() => null);
    setProblem(held ? null : t.unreadable);
    if (held) onFile(held);
  };
  return (
    <>
      <FileField
        label={label}
        accept={accept}
        onFiles={(files) => void take(files)}
        busy={busy}
        hint={hint}
        error={problem ?? undefined}
      />
      {file && (
        <div class={users.buttons}>
          <strong dir="auto">{file.name}</strong>
          <span class={users.muted}>{formatBytes(file.size)}</span>
          <Button size="small" kind="ghost" icon={FileX} onClick={() => onFile(null)}>
            {t.otherFile}
          </Button>
        </div>
      )}
    </>
  );
}
