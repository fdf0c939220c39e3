import { useQuery } from '@tanstack/preact-query';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { DashboardTab } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { deleteTab, showTabs, widgetsOf } from './queries.ts';
import { texts } from './tab-texts.ts';

interface DialogProps {
  onClose: () => void;
}

export function NewTabDialog({ onClose }: DialogProps) {
  const t = texts.value;
  const { route } = useLocation();
  const create = async (name: string) => {
    // Without a name, the service counts: Dashboard 2.
    const tab = await portal.post('/dashboard/tabs', { body: name === '' ? {} : { name } });
    showTabs((tabs) => [...tabs, tab]);
    route(`/app/tabs/${tab.id}`);
  };
  return (
    <NameDialog title={t.newTab} hint={t.newTabHint} name="" action={t.create} onSave={create} onClose={onClose} />
  );
}

export function RenameTabDialog({ tab, onClose }: DialogProps & { tab: DashboardTab }) {
  const t = texts.value;
  const rename = async (name: string) => {
    const renamed = await portal.patch('/dashboard/tabs/{id}', { params: { path: { id: tab.id } }, body: { name } });
    showTabs((tabs) => tabs.map((each) => (each.id === tab.id ? renamed : each)));
  };
  return <NameDialog title={t.rename} name={tab.name} isRequired action={t.save} onSave={rename} onClose={onClose} />;
}

interface NameDialogProps extends DialogProps {
  title: string;
  hint?: string;
  name: string;
  isRequired?: boolean;
  action: string;
  onSave: (name: string) => Promise<void>;
}

function NameDialog({ title, hint, name: oldName, isRequired, action, onSave, onClose }: NameDialogProps) {
  const t = texts.value;
  const [name, setName] = useState(oldName);
  // The name is handed over: the function itself may be that of the drawing before the last key.
  const save = useMutation({ mutationFn: onSave, onSuccess: onClose });
  return (
    <Dialog title={title} size="small" onClose={onClose}>
      <Form
        onSubmit={() => save.mutateAsync(name.trim())}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {action}
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
          hint={hint}
          error={fieldErrors(save.error)['name']}
          required={isRequired}
          maxLength={60}
          autocomplete="off"
          autofocus
        />
      </Form>
    </Dialog>
  );
}

interface DeleteTabDialogProps extends DialogProps {
  tab: DashboardTab;
  /** The dashboard to show afterwards. */
  next: DashboardTab;
}

export function DeleteTabDialog({ tab, next, onClose }: DeleteTabDialogProps) {
  const t = texts.value;
  const { route } = useLocation();
  const widgets = useQuery(widgetsOf(tab.id));
  const favorites = useQuery({
    queryKey: ['dashboards', 'favorites', 'all'],
    queryFn: ({ signal }) => portal.get('/favorites', { signal }),
    staleTime: 0,
  });
  const ids = new Set(widgets.data?.map(({ id }) => id));
  const favoriteCount = favorites.data?.filter(({ widgetId }) => ids.has(widgetId)).length;

  const remove = useMutation({
    mutationFn: () => deleteTab(tab.id),
    onSuccess: () => {
      // First away from it: a page whose dashboard is missing would say that it is gone. Its widgets stay known: this dialog still shows
      // them for a moment, and would ask the service for them.
      route(`/app/tabs/${next.id}`, true);
      showTabs((tabs) => tabs.filter(({ id }) => id !== tab.id));
    },
  });

  return (
    <ConfirmDialog
      title={t.deleteTitle(tab.name)}
      confirmLabel={t.delete}
      danger
      onConfirm={() => remove.mutateAsync()}
      onClose={onClose}
    >
      {widgets.data && favoriteCount !== undefined ? t.goes(widgets.data.length, favoriteCount) : t.allGoes}
    </ConfirmDialog>
  );
}
