import { useState } from 'preact/hooks';
import type { CustomModule, ModuleCategory } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { categoryName, moduleName } from '../shell/module-names.ts';
import { Button } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { texts } from './categories-texts.ts';
import { refreshModules } from './queries.ts';

interface CategoryNameDialogProps {
  /** Left out for a new one. */
  category?: ModuleCategory;
  onClose: () => void;
}

/** Creates a category, or renames one. */
export function CategoryNameDialog({ category, onClose }: CategoryNameDialogProps) {
  const t = texts.value;
  const [name, setName] = useState(category ? categoryName(category) : '');
  const [theirs, setTheirs] = useState<ModuleCategory | null>(null);
  const save = useMutation({
    mutationFn: (body: { name: string }) =>
      category
        ? portal.patch('/module-categories/{key}', { params: { path: { key: category.key } }, body })
        : portal.post('/module-categories', { body }),
    onSuccess: async (saved) => {
      onClose();
      showToast(category ? t.renamed(categoryName(saved)) : t.created(categoryName(saved)), { kind: 'success' });
      await refreshModules();
    },
  });
  const check = useMutation({ mutationFn: () => portal.get('/module-categories') });
  const submit = async () => {
    if (category) {
      // The translated name of a default category is no new name.
      if (name.trim() === categoryName(category)) return onClose();
      const now = (await check.mutateAsync()).find(({ key }) => key === category.key);
      if (now && now.name !== category.name && now.name !== name) return setTheirs(now);
    }
    return save.mutateAsync({ name });
  };
  const error = check.error ?? save.error;
  const errors = fieldErrors(error);
  const isTaken = error instanceof PortalError && error.code === 'CONFLICT';
  return (
    <Dialog title={category ? t.renameOf(categoryName(category)) : t.add} onClose={onClose} size="small">
      <Form
        onSubmit={submit}
        error={error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending || check.isPending}>
              {category ? t.save : t.create}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.name}
          name="name"
          required
          autofocus
          autocomplete="off"
          maxLength={200}
          value={name}
          onInput={setName}
          error={isTaken ? t.nameTaken : errors['name']}
        />
      </Form>
      {theirs && (
        <ChangedMeanwhileDialog
          changes={[{ label: t.name, theirs: categoryName(theirs), mine: name }]}
          onKeepMine={() => {
            setTheirs(null);
            void save.mutateAsync({ name }).catch(() => undefined);
          }}
          onTakeTheirs={() => {
            onClose();
            void refreshModules();
          }}
          onClose={() => setTheirs(null)}
        />
      )}
    </Dialog>
  );
}

interface DeleteCategoryDialogProps {
  category: ModuleCategory;
  others: readonly ModuleCategory[];
  /** The shared custom modules of the category. */
  shared: readonly CustomModule[];
  onClose: () => void;
}

/** Deletes a category; its modules move to another one. */
export function DeleteCategoryDialog({ category, others, shared, onClose }: DeleteCategoryDialogProps) {
  const t = texts.value;
  const [target, setTarget] = useState(others[0]?.key ?? '');
  const name = categoryName(category);
  const remove = useMutation({
    mutationFn: () =>
      portal.delete('/module-categories/{key}', { params: { path: { key: category.key }, query: { target } } }),
    onSuccess: async () => {
      onClose();
      showToast(t.deleted(name), { kind: 'success' });
      await refreshModules();
    },
    // The target may be gone.
    onError: refreshModules,
  });
  const moving = [
    ...category.moduleKeys.map((key) => moduleName({ key, name: key, kind: 'builtin' })),
    ...shared.map((module) => module.name),
  ];
  return (
    <Dialog title={t.deleteTitle(name)} onClose={onClose} size="small">
      <Form
        onSubmit={() => remove.mutateAsync()}
        error={remove.error}
        actions={
          <>
            <Button type="submit" kind="danger" busy={remove.isPending}>
              {t.delete}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <p>{moving.length > 0 ? t.moving(moving) : t.nothingMoves}</p>
        <SelectField
          label={t.target}
          name="target"
          value={target}
          onChange={setTarget}
          options={others.map((one) => ({ value: one.key, label: categoryName(one) }))}
          hint={t.targetHint}
          error={fieldErrors(remove.error)['target']}
        />
      </Form>
    </Dialog>
  );
}
