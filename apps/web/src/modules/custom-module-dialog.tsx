import { useMutation, useQuery } from '@tanstack/preact-query';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CustomModule } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { portal, queryClient } from '../portal.ts';
import { isAdmin, me } from '../session.ts';
import { categoryName } from '../shell/module-names.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { texts } from './texts.ts';

interface CustomModuleDialogProps {
  /** Left out for a new one. */
  module?: CustomModule;
  onClose: () => void;
}

/** Adds or changes a custom module. Only administrators share one with everyone, and only when they add it. */
export function CustomModuleDialog({ module, onClose }: CustomModuleDialogProps) {
  const t = texts.value;
  const categories = useQuery({
    queryKey: ['modules', 'categories'],
    queryFn: ({ signal }) => portal.get('/module-categories', { signal }),
  });
  return (
    <Dialog title={module ? t.editTitle(module.name) : t.add} onClose={onClose}>
      <QueryView query={categories}>
        {(list) => (
          <ModuleForm
            module={module}
            categories={list.map(({ key, name }) => ({ value: key, label: categoryName({ key, name }) }))}
            onClose={onClose}
          />
        )}
      </QueryView>
    </Dialog>
  );
}

interface ModuleFormProps {
  module: CustomModule | undefined;
  categories: { value: string; label: string }[];
  onClose: () => void;
}

function ModuleForm({ module, categories, onClose }: ModuleFormProps) {
  const t = texts.value;
  const { route: go } = useLocation();
  const [name, setName] = useState(module?.name ?? '');
  const [url, setUrl] = useState(module?.url ?? '');
  const [category, setCategory] = useState(module?.category ?? 'custom-modules');
  const [sortOrder, setSortOrder] = useState(String(module?.sortOrder ?? 0));
  const [shared, setShared] = useState(false);
  const save = useMutation({
    mutationFn: () => {
      const body = { name, url, category, sortOrder: Number(sortOrder) };
      return module
        ? portal.patch('/custom-modules/{id}', { params: { path: { id: module.id } }, body })
        : portal.post('/custom-modules', { body: { ...body, shared } });
    },
    onSuccess: async (saved) => {
      await queryClient.invalidateQueries({ queryKey: ['modules'] });
      onClose();
      showToast(module ? t.saved(saved.name) : t.created(saved.name), { kind: 'success' });
      if (!module) go(`/app/modules/${saved.id}`);
    },
  });
  const errors = fieldErrors(save.error);
  const isLimit = save.error instanceof PortalError && save.error.code === 'LIMIT_REACHED';
  return (
    <Form
      onSubmit={() => save.mutateAsync()}
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
        required
        autofocus
        maxLength={200}
        value={name}
        onInput={setName}
        error={errors['name']}
      />
      <TextField
        label={t.url}
        name="url"
        type="url"
        required
        maxLength={2_048}
        hint={t.urlHint}
        value={url}
        onInput={setUrl}
        error={errors['url']}
      />
      <SelectField
        label={t.category}
        name="category"
        value={category}
        onChange={setCategory}
        options={categories}
        error={errors['category']}
      />
      <TextField
        label={t.sortOrder}
        name="sortOrder"
        type="number"
        required
        hint={t.sortOrderHint}
        value={sortOrder}
        onInput={setSortOrder}
        error={errors['sortOrder']}
      />
      {!module && isAdmin.value && (
        <SwitchField
          label={t.shared}
          name="shared"
          hint={t.sharedHint(me.value?.tenantName ?? '')}
          checked={shared}
          onChange={setShared}
          error={errors['shared']}
        />
      )}
      {isLimit && <p>{t.limit}</p>}
    </Form>
  );
}
