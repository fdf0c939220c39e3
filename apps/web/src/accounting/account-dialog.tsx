import { useState } from 'preact/hooks';
import type { MerchandiseAccount } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { changedSince, ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { texts } from './merchandise-texts.ts';
import { readAccounts } from './queries.ts';
import { shared } from './shared-texts.ts';

interface AccountDialogProps {
  /** The account to change; a new one without it. */
  account?: MerchandiseAccount;
  onClose: () => void;
  onSaved: (account: MerchandiseAccount) => void;
}

const fields = ['number', 'name'] as const;

export function AccountDialog({ account, onClose, onSaved }: AccountDialogProps) {
  const t = texts.value;
  const w = shared.value;
  const [opened, setOpened] = useState({ number: account?.number ?? '', name: account?.name ?? '' });
  const [draft, setDraft] = useState(opened);
  const [theirs, setTheirs] = useState<typeof opened | null>(null);
  const save = useMutation({
    mutationFn: async (before: typeof opened | null) => {
      if (!account) return portal.post('/accounting/merchandise/accounts', { body: draft });
      const now = before && (await readAccounts()).find(({ id }) => id === account.id);
      if (now && changedSince(before, now, fields).length > 0) {
        setTheirs(now);
        return null;
      }
      return portal.patch('/accounting/merchandise/accounts/{id}', {
        params: { path: { id: account.id } },
        body: draft,
      });
    },
    onSuccess: (saved) => {
      if (!saved) return;
      onSaved(saved);
      onClose();
    },
  });
  const errors = fieldErrors(save.error);
  const isTaken = save.error instanceof PortalError && save.error.code === 'CONFLICT';
  const title = account ? t.edit(account.number) : t.add;
  return (
    <Dialog title={title} onClose={onClose} size="small">
      <Form
        label={title}
        onSubmit={() => save.mutateAsync(opened)}
        error={isTaken ? null : save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button onClick={onClose}>{w.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.number}
          name="number"
          autocomplete="off"
          maxLength={9}
          required
          value={draft.number}
          onInput={(number) => setDraft({ ...draft, number })}
          error={errors['number'] ?? (isTaken ? t.taken : undefined)}
        />
        <TextField
          label={t.name}
          name="name"
          autocomplete="off"
          maxLength={60}
          required
          value={draft.name}
          onInput={(name) => setDraft({ ...draft, name })}
          error={errors['name']}
        />
      </Form>
      {theirs && (
        <ChangedMeanwhileDialog
          changes={changedSince(opened, theirs, fields).map((key) => ({
            label: t[key],
            theirs: theirs[key],
            mine: draft[key],
          }))}
          onKeepMine={() => {
            setTheirs(null);
            save.mutate(null);
          }}
          onTakeTheirs={() => {
            const { number, name } = theirs;
            setTheirs(null);
            setOpened({ number, name });
            setDraft({ number, name });
          }}
          onClose={() => setTheirs(null)}
        />
      )}
    </Dialog>
  );
}
