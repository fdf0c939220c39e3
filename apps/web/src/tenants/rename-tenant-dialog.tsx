import { useState } from 'preact/hooks';
import type { Tenant } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ChangedMeanwhileDialog, changedSince } from '../ui/changed-meanwhile.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { refreshTenants } from './queries.ts';
import { texts } from './texts.ts';

export function RenameTenantDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const t = texts.value;
  const [opened, setOpened] = useState(tenant);
  const [name, setName] = useState(tenant.name);
  const [theirs, setTheirs] = useState<Tenant | null>(null);
  const at = { params: { path: { id: tenant.id } } };
  const save = useMutation({
    mutationFn: async (seen: Tenant) => {
      const now = await portal.get('/tenants/{id}', at);
      if (changedSince(seen, now, ['name']).length > 0 && now.name !== name.trim()) return now;
      await portal.patch('/tenants/{id}', { ...at, body: { name } });
      return null;
    },
    onSuccess: async (changed) => {
      setTheirs(changed);
      if (changed) return;
      await refreshTenants();
      showToast(t.renamed(name.trim()), { kind: 'success' });
      onClose();
    },
  });
  const take = (now: Tenant) => {
    setOpened(now);
    setTheirs(null);
  };

  return (
    <Dialog title={`${t.rename}: ${opened.name}`} onClose={onClose} size="small">
      <Form
        onSubmit={() => save.mutateAsync(opened)}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.name}
          name="name"
          value={name}
          onInput={setName}
          required
          error={fieldErrors(save.error)['name']}
        />
      </Form>
      {theirs && (
        <ChangedMeanwhileDialog
          changes={[{ label: t.name, theirs: theirs.name, mine: name }]}
          onKeepMine={() => {
            take(theirs);
            save.mutate(theirs);
          }}
          onTakeTheirs={() => {
            take(theirs);
            setName(theirs.name);
          }}
          onClose={() => setTheirs(null)}
        />
      )}
    </Dialog>
  );
}
