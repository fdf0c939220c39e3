import { useState } from 'preact/hooks';
import type { Tenant } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { refreshTenants } from './queries.ts';
import { texts } from './texts.ts';

/** Deletes a tenant once the person has typed its name. */
export function DeleteTenantDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const t = texts.value;
  const { id, name, userCount } = tenant;
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const remove = useMutation({
    mutationFn: () => portal.delete('/tenants/{id}', { params: { path: { id } } }),
    onSuccess: async () => {
      await refreshTenants();
      showToast(t.deleted(name), { kind: 'success' });
      onClose();
    },
  });
  const submit = async () => {
    const isRight = isSameName(typed, name);
    setWrong(!isRight);
    if (isRight) await remove.mutateAsync();
  };
  const isInUse = remove.error instanceof PortalError && remove.error.code === 'TENANT_HAS_ACTIVE_USERS';
  return (
    <Dialog title={t.deleteTitle(name)} onClose={onClose} size="small" isSafeToClose>
      <Form
        onSubmit={submit}
        error={remove.error}
        actions={
          <>
            <Button type="submit" kind="danger" busy={remove.isPending}>
              {t.delete}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
            {isInUse && (
              <LinkButton href={addressOf('/app/admin/users', { tenantId: id, isActive: 'true' })}>
                {t.seeAccounts}
              </LinkButton>
            )}
          </>
        }
      >
        <p>{t.deleteText(userCount)}</p>
        {userCount > 0 && <p>{t.deleteNeeds}</p>}
        <TextField
          label={t.typeName(name)}
          name="confirmation"
          value={typed}
          onInput={setTyped}
          autocomplete="off"
          required
          error={isWrong && !isSameName(typed, name) ? t.typedWrong : undefined}
        />
      </Form>
    </Dialog>
  );
}

// A name can have blanks that nobody sees.
const plain = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').normalize('NFC');

const isSameName = (typed: string, name: string): boolean => plain(typed) === plain(name);
