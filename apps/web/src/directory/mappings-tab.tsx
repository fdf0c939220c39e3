import { Trash } from 'lucide';
import { useState } from 'preact/hooks';
import type { LdapMapping } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import settings from '../mail-settings/mail-settings.module.css';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { useMappings } from './queries.ts';
import { texts } from './texts.ts';

type Field = LdapMapping['field'];

const fields: readonly Field[] = ['username', 'email', 'displayName', 'firstName', 'lastName'];

/** Which attribute of the directory fills which field of an account. */
export function MappingsTab() {
  const t = texts.value;
  const mappings = useMappings();
  const [deleting, setDeleting] = useState<LdapMapping | null>(null);
  return (
    <>
      <Card title={t.mappings}>
        <p class={profile.note}>{t.mappingsIntro}</p>
        <QueryView query={mappings}>
          {(rows) => (
            <Table
              caption={t.mappings}
              columns={columnsOf(setDeleting)}
              rows={inOrder(rows)}
              rowKey={({ id }) => id}
              empty={null}
            />
          )}
        </QueryView>
        <p class={profile.note}>{t.groupsNote}</p>
      </Card>
      <AddMapping />
      {deleting && (
        <ConfirmDialog
          title={t.deleteMappingTitle}
          confirmLabel={t.delete}
          danger
          onConfirm={async () => {
            await portal.delete('/ldap/mappings/{id}', { params: { path: { id: deleting.id } } });
            await refresh();
          }}
          onClose={() => setDeleting(null)}
        >
          {t.deleteMappingText(deleting.ldapAttribute, t.fields[deleting.field])}
        </ConfirmDialog>
      )}
    </>
  );
}

function columnsOf(onDelete: (mapping: LdapMapping) => void): Column<LdapMapping>[] {
  const t = texts.value;
  return [
    { key: 'field', label: t.field, cell: ({ field }) => t.fields[field] },
    { key: 'attribute', label: t.attribute, cell: ({ ldapAttribute }) => <code>{ldapAttribute}</code> },
    {
      key: 'origin',
      label: t.origin,
      cell: ({ isDefault }) => <Badge kind={isDefault ? 'neutral' : 'info'}>{isDefault ? t.isDefault : t.isOwn}</Badge>,
    },
    {
      key: 'delete',
      label: '',
      align: 'end',
      cell: (mapping) =>
        !mapping.isDefault && (
          <IconButton
            icon={Trash}
            label={t.deleteMapping(mapping.ldapAttribute, t.fields[mapping.field])}
            onClick={() => onDelete(mapping)}
          />
        ),
    },
  ];
}

/** Another preview would differ, so the old one goes. */
async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['directory', 'mappings'] });
  await queryClient.resetQueries({ queryKey: ['directory', 'preview'] });
}

/** Read where no mapping has a value; the API does not list them. */
const lastResorts: readonly Pick<LdapMapping, 'field' | 'ldapAttribute'>[] = [
  { field: 'username', ldapAttribute: 'uid' },
  { field: 'firstName', ldapAttribute: 'givenName' },
  { field: 'lastName', ldapAttribute: 'sn' },
];

/** By field; within one, in the order in which the attributes count. */
const inOrder = (mappings: readonly LdapMapping[]): LdapMapping[] =>
  fields.flatMap((field) =>
    [...mappings, ...lastResorts.map((last) => ({ ...last, id: `last ${last.field}`, isDefault: true }))].filter(
      (mapping) => mapping.field === field,
    ),
  );

function AddMapping() {
  const t = texts.value;
  const [field, setField] = useState<Field>('email');
  const [ldapAttribute, setAttribute] = useState('');
  useUnsavedChanges(ldapAttribute.trim() !== '');
  const add = useMutation({
    mutationFn: (body: Pick<LdapMapping, 'field' | 'ldapAttribute'>) => portal.post('/ldap/mappings', { body }),
    onSuccess: async () => {
      setAttribute('');
      showToast(t.mappingAdded, { kind: 'success' });
      await refresh();
    },
  });
  const { error } = add;
  const isTaken = error instanceof PortalError && error.code === 'CONFLICT';
  return (
    <Card title={t.addMapping}>
      <Form
        label={t.addMapping}
        onSubmit={() => add.mutateAsync({ field, ldapAttribute })}
        error={error}
        actions={
          <Button type="submit" kind="primary" busy={add.isPending}>
            {t.add}
          </Button>
        }
      >
        <div class={settings.columns}>
          <SelectField
            label={t.field}
            name="field"
            value={field}
            onChange={(value) => setField(value as Field)}
            options={fields.map((value) => ({ value, label: t.fields[value] }))}
          />
          <TextField
            label={t.attribute}
            name="ldapAttribute"
            required
            autocomplete="off"
            maxLength={100}
            value={ldapAttribute}
            onInput={setAttribute}
            hint={t.attributeHint}
            error={isTaken ? t.mappingTaken : fieldErrors(error)['ldapAttribute']}
          />
        </div>
      </Form>
    </Card>
  );
}
