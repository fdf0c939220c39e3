import { useQuery } from '@tanstack/preact-query';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CustomModule } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { isAdmin, me } from '../session.ts';
import { categoryName } from '../shell/module-names.ts';
import { Button } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { categoriesQuery, refreshModules } from './queries.ts';
import { texts } from './texts.ts';

interface CustomModuleDialogProps {
  /** Left out for a new one. */
  module?: CustomModule;
  /** A new one is for everyone, and the page stays. */
  isShared?: boolean;
  onClose: () => void;
}

/** Adds or changes a custom module. Only administrators share one with everyone, and only when they add it. */
export function CustomModuleDialog({ module, isShared = false, onClose }: CustomModuleDialogProps) {
  const t = texts.value;
  const categories = useQuery(categoriesQuery);
  return (
    <Dialog title={module ? t.editTitle(module.name) : isShared ? t.addShared : t.add} onClose={onClose}>
      <QueryView query={categories}>
        {(list) => (
          <ModuleForm
            module={module}
            isShared={isShared}
            categories={list.map(({ key, name }) => ({ value: key, label: categoryName({ key, name }) }))}
            onClose={onClose}
          />
        )}
      </QueryView>
    </Dialog>
  );
}

const keys = ['name', 'url', 'category', 'sortOrder'] as const;
type Key = (typeof keys)[number];

interface ModuleFormProps {
  module: CustomModule | undefined;
  isShared: boolean;
  categories: { value: string; label: string }[];
  onClose: () => void;
}

function ModuleForm({ module, isShared, categories, onClose }: ModuleFormProps) {
  const t = texts.value;
  const { route: go } = useLocation();
  const [name, setName] = useState(module?.name ?? '');
  const [url, setUrl] = useState(module?.url ?? '');
  const [category, setCategory] = useState(module?.category ?? 'custom-modules');
  const [sortOrder, setSortOrder] = useState(String(module?.sortOrder ?? 0));
  const [shared, setShared] = useState(isShared);
  const [conflict, setConflict] = useState<{ now: CustomModule; keys: readonly Key[] } | null>(null);
  const mine = { name, url, category, sortOrder: Number(sortOrder) };
  const isChanged = (key: Key) => module !== undefined && mine[key] !== module[key];
  const save = useMutation({
    mutationFn: () =>
      module
        ? portal.patch('/custom-modules/{id}', {
            params: { path: { id: module.id } },
            // What the person left as it was may have been changed by others.
            body: Object.fromEntries(keys.filter(isChanged).map((key) => [key, mine[key]])),
          })
        : portal.post('/custom-modules', { body: { ...mine, shared } }),
    onSuccess: async (saved) => {
      await refreshModules();
      onClose();
      showToast(module ? t.saved(saved.name) : t.created(saved.name), { kind: 'success' });
      if (!module && !isShared) go(`/app/modules/${saved.id}`);
    },
  });
  const check = useMutation({ mutationFn: () => portal.get('/custom-modules') });
  const submit = async () => {
    const now = module && (await check.mutateAsync()).find(({ id }) => id === module.id);
    if (module && now) {
      const both = keys.filter((key) => isChanged(key) && now[key] !== module[key] && now[key] !== mine[key]);
      if (both.length > 0) return setConflict({ now, keys: both });
    }
    return save.mutateAsync();
  };
  const error = check.error ?? save.error;
  const errors = fieldErrors(error);
  const valueOf = (key: Key, values: Pick<CustomModule, Key>) =>
    key === 'category'
      ? (categories.find(({ value }) => value === values.category)?.label ?? values.category)
      : String(values[key]);
  const isLimit = save.error instanceof PortalError && save.error.code === 'LIMIT_REACHED';
  return (
    <Form
      onSubmit={submit}
      error={error}
      actions={
        <>
          <Button type="submit" kind="primary" busy={save.isPending || check.isPending}>
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
      {!module && !isShared && isAdmin.value && (
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
      {conflict && (
        <ChangedMeanwhileDialog
          changes={conflict.keys.map((key) => ({
            label: t[key],
            theirs: valueOf(key, conflict.now),
            mine: valueOf(key, mine),
          }))}
          onKeepMine={() => {
            setConflict(null);
            void save.mutateAsync().catch(() => undefined);
          }}
          onTakeTheirs={() => {
            onClose();
            void refreshModules();
          }}
          onClose={() => setConflict(null)}
        />
      )}
    </Form>
  );
}
