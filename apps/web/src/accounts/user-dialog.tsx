import { useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { me } from '../session.ts';
import { useTenants } from '../tenants/queries.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { RadioGroup, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { emptyDraft, personOf, type UserDraft } from './user-draft.ts';
import { UserFields } from './user-fields.tsx';
import { texts } from './user-texts.ts';
import { assignableRoles, namedInText, words } from './user-words.ts';
import { refreshUsers, useMailStatus } from './users-queries.ts';

interface NewUserDialogProps {
  /** The tenant that the list shows. */
  tenantId: string | undefined;
  onClose: () => void;
  /** The account gets a temporary password. */
  onPassword: (user: User) => void;
}

type Access = 'mail' | 'password' | 'later';

interface Entered {
  draft: UserDraft;
  access: Access;
  tenantId: string;
}

export function NewUserDialog({ tenantId: listed, onClose, onPassword }: NewUserDialogProps) {
  const t = texts.value;
  const tenants = useTenants();
  const { data: mail } = useMailStatus();
  const [draft, setDraft] = useState(emptyDraft);
  const [tenantId, setTenantId] = useState(listed ?? me.value?.tenantId ?? '');
  const [wanted, setAccess] = useState<Access | null>(null);
  const canMail = mail?.available === true && draft.email.trim() !== '';
  const access = wanted ?? (canMail ? 'mail' : 'password');

  const create = useMutation({
    mutationFn: (entered: Entered) =>
      portal.post('/users', {
        body: {
          ...personOf(entered.draft),
          username: entered.draft.username,
          role: entered.draft.role,
          isActive: true,
          sendWelcomeMail: entered.access === 'mail',
          ...(entered.tenantId !== me.value?.tenantId && { tenantId: entered.tenantId }),
        },
      }),
    onSuccess: (user, entered) => {
      showToast(t.created(namedInText(user)), { kind: 'success' });
      onClose();
      if (entered.access === 'password') onPassword(user);
    },
    onSettled: () => refreshUsers(),
  });

  return (
    <Dialog title={t.newTitle} onClose={onClose}>
      <Form
        onSubmit={() => create.mutateAsync({ draft, access, tenantId })}
        error={create.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={create.isPending}>
              {t.create}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <UserFields draft={draft} onChange={setDraft} error={create.error} roles={assignableRoles()} isNew />
        {tenants.data && (
          <SelectField
            label={words.value.tenant}
            name="tenantId"
            value={tenantId}
            onChange={setTenantId}
            options={tenants.data.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
        <RadioGroup
          legend={t.access}
          name="access"
          value={access}
          onChange={setAccess}
          options={(['mail', 'password', 'later'] as const).map((value) => ({
            value,
            label: t.accesses[value],
            hint:
              value !== 'mail' || canMail
                ? t.accessHints[value]
                : mail?.available === false
                  ? t.needsMailServer
                  : t.needsAddress,
            disabled: value === 'mail' && !canMail && access !== 'mail',
          }))}
        />
      </Form>
    </Dialog>
  );
}
