import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import type { Group } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { grantsOf } from './group-grants.ts';
import { texts } from './groups-texts.ts';
import { groupsQuery, matrixQuery, refreshModules } from './queries.ts';

interface GroupNameDialogProps {
  /** Left out for a new one. */
  group?: Group;
  onSaved?: (group: Group) => void;
  onClose: () => void;
}

/** Creates a group, or renames one. */
export function GroupNameDialog({ group, onSaved, onClose }: GroupNameDialogProps) {
  const t = texts.value;
  const [internalName, setName] = useState(group?.internalName ?? '');
  /** The name as this form knows it. */
  const [opened, setOpened] = useState(group?.internalName);
  const [theirs, setTheirs] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: () => {
      const body = { internalName };
      return group
        ? portal.patch('/groups/{id}', { params: { path: { id: group.id } }, body })
        : portal.post('/groups', { body });
    },
    onSuccess: async (saved) => {
      onClose();
      showToast(group ? t.renamed(saved.internalName) : t.created(saved.internalName), { kind: 'success' });
      await refreshModules();
      onSaved?.(saved);
    },
  });
  const check = useMutation({
    mutationFn: () => queryClient.fetchQuery({ ...groupsQuery, staleTime: 0 }),
  });
  const submit = async () => {
    if (group) {
      const now = (await check.mutateAsync()).find(({ id }) => id === group.id)?.internalName;
      if (now !== undefined && now !== opened && now !== internalName) return setTheirs(now);
    }
    return save.mutateAsync();
  };
  const error = check.error ?? save.error;
  const errors = fieldErrors(error);
  const isTaken = error instanceof PortalError && error.code === 'GROUP_NAME_TAKEN';
  return (
    <Dialog title={group ? t.renameOf(group.internalName) : t.add} onClose={onClose} size="small">
      <Form
        onSubmit={submit}
        error={error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending || check.isPending}>
              {group ? t.save : t.create}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.name}
          name="internalName"
          required
          autofocus
          autocomplete="off"
          maxLength={200}
          value={internalName}
          onInput={setName}
          error={isTaken ? t.nameTaken : errors['internalName']}
        />
      </Form>
      {theirs !== null && (
        <ChangedMeanwhileDialog
          changes={[{ label: t.name, theirs, mine: internalName }]}
          onKeepMine={() => {
            setTheirs(null);
            setOpened(theirs);
            void save.mutateAsync().catch(() => undefined);
          }}
          onTakeTheirs={onClose}
          onClose={() => setTheirs(null)}
        />
      )}
    </Dialog>
  );
}

interface DeleteGroupDialogProps {
  group: Group;
  onDeleted?: () => void;
  onClose: () => void;
}

export function DeleteGroupDialog({ group, onDeleted, onClose }: DeleteGroupDialogProps) {
  const t = texts.value;
  const groups = useQuery(groupsQuery);
  const matrix = useQuery(matrixQuery);
  // What goes is named as it is now.
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: groupsQuery.queryKey, exact: true });
    void queryClient.invalidateQueries({ queryKey: matrixQuery.queryKey });
  }, []);
  const remove = useMutation({
    mutationFn: () => portal.delete('/groups/{id}', { params: { path: { id: group.id } } }),
    onSuccess: async () => {
      onDeleted?.();
      showToast(t.deleted(group.internalName), { kind: 'success' });
      await refreshModules();
    },
  });
  const { internalName, memberCount } = groups.data?.find(({ id }) => id === group.id) ?? group;
  const modules = grantsOf(matrix.data, group.id).map(({ name }) => name);
  return (
    <ConfirmDialog
      title={t.deleteTitle}
      confirmLabel={t.delete}
      danger
      onConfirm={() => remove.mutateAsync()}
      onClose={onClose}
    >
      <p>{t.deleteText(internalName, memberCount)}</p>
      {modules.length > 0 && <p>{t.deleteModules(modules)}</p>}
    </ConfirmDialog>
  );
}
