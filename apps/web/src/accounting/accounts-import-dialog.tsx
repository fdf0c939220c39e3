import { useState } from 'preact/hooks';
import type { MerchandiseAccountImport } from '@portal/client/interface';
import users from '../accounts/users.module.css';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { UploadState, useUpload } from '../ui/upload.tsx';
import { type AccountDifference, compareAccounts } from './accounts-comparison.ts';
import { ChosenFile } from './chosen-file.tsx';
import { refusedRows } from './findings.ts';
import { texts } from './merchandise-texts.ts';
import { Counts, RefusedRows } from './preview-parts.tsx';
import { readAccounts } from './queries.ts';
import { shared } from './shared-texts.ts';

interface AccountsImportDialogProps {
  onClose: () => void;
  onImported: (counts: MerchandiseAccountImport) => void;
}

/** Replaces the account list with a file, after the person has seen what changes. */
export function AccountsImportDialog({ onClose, onImported }: AccountsImportDialogProps) {
  const t = texts.value;
  const w = shared.value;
  const [file, setFile] = useState<File | null>(null);
  const [hasChanged, setChanged] = useState(false);
  const trial = useUpload(async (sent: File, signal) => {
    const counts = await importFile(sent, true, signal);
    const differences = compareAccounts(new Uint8Array(await sent.arrayBuffer()), await readAccounts());
    return { counts, differences };
  });
  const run = useMutation({
    mutationFn: async (sent: File) => {
      const seen = JSON.stringify(trial.data?.counts);
      const now = await importFile(sent, true);
      if (JSON.stringify(now) !== seen) {
        await trial.send(sent);
        setChanged(true);
        return null;
      }
      return importFile(sent, false);
    },
    onSuccess: (counts) => {
      if (!counts) return;
      onImported(counts);
      onClose();
    },
  });
  const choose = (chosen: File | null) => {
    setFile(chosen);
    setChanged(false);
    run.reset();
    trial.reset();
    if (chosen) void trial.send(chosen);
  };
  const plan = file && !trial.error ? trial.data : null;
  const isSame = plan !== null && Object.values(plan.counts).every((count) => count === 0);
  return (
    <Dialog title={t.importTitle} onClose={onClose} size="wide">
      <Form
        label={t.importTitle}
        onSubmit={async () => {
          if (file && plan && !isSame) await run.mutateAsync(file);
        }}
        error={run.error}
        actions={
          <>
            <Button type="submit" kind="danger" disabled={!plan || isSame || trial.isSending} busy={run.isPending}>
              {t.replace}
            </Button>
            <Button onClick={onClose}>{w.cancel}</Button>
          </>
        }
      >
        <ChosenFile
          label={t.importFile}
          hint={t.importHint}
          accept=".csv,.txt,text/csv,text/plain"
          file={file}
          busy={trial.isSending}
          onFile={choose}
        />
        <UploadState upload={trial} onRetry={() => file && void trial.send(file)} />
        <RefusedRows findings={refusedRows(trial.error)} />
        {plan && file && (
          <div role="status" class={users.stack}>
            {hasChanged && <Status kind="warning">{t.meanwhile}</Status>}
            {isSame ? (
              <Status kind="ok">{t.noChanges}</Status>
            ) : (
              <>
                <p>{t.importText(file.name)}</p>
                <Counts
                  counts={(['added', 'changed', 'removed'] as const).map((kind) => ({
                    label: t.kinds[kind],
                    value: formatNumber(plan.counts[kind]),
                  }))}
                />
              </>
            )}
          </div>
        )}
        {plan && !isSame && (
          <Table
            caption={t.change}
            columns={columns()}
            rows={plan.differences}
            rowKey={({ number }) => number}
            empty={null}
          />
        )}
      </Form>
    </Dialog>
  );
}

const importFile = (file: File, dryRun: boolean, signal?: AbortSignal) =>
  portal.post('/accounting/merchandise/accounts/import', {
    params: { query: { dryRun } },
    body: { file },
    ...(signal && { signal }),
  });

const statuses = { added: 'ok', changed: 'info', removed: 'warning' } as const;

function columns(): Column<AccountDifference>[] {
  const t = texts.value;
  return [
    { key: 'number', label: t.number, cell: ({ number }) => number },
    { key: 'change', label: t.change, cell: ({ kind }) => <Status kind={statuses[kind]}>{t.kinds[kind]}</Status> },
    { key: 'before', label: t.before, cell: ({ before }) => before ?? '–' },
    { key: 'now', label: t.now, cell: ({ now }) => now ?? '–' },
  ];
}
