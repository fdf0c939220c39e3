import { useState } from 'preact/hooks';
import type { Tenant, User } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import s from '../accounts/facts.module.css';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, RadioGroup, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { refreshTenants } from './queries.ts';
import { texts } from './texts.ts';

type Access = 'password' | 'mail';

/** What the administrator signs in with: a mailed link, or the password if no mail was sent. */
interface FirstAccount {
  username: string;
  email: string;
  access: Access;
  temporaryPassword: string | null;
}

const nobody = { username: '', displayName: '', email: '' };

/** Makes a tenant, and on request the account that administers it. */
export function CreateTenantDialog({ onClose }: { onClose: () => void }) {
  const t = texts.value;
  const [name, setName] = useState('');
  const [hasAdmin, setHasAdmin] = useState(true);
  const [person, setPerson] = useState(nobody);
  const [access, setAccess] = useState<Access>('password');
  // What is made stays when a later step is refused, and the next attempt goes on from there.
  const [tenant, setTenant] = useState<Tenant | null>(null);
  const [user, setUser] = useState<User | null>(null);
  const [account, setAccount] = useState<FirstAccount | null>(null);

  const finish = (made: string) => {
    showToast(t.createdTenant(made), { kind: 'success' });
    onClose();
  };
  const create = useMutation({
    mutationFn: async () => {
      // Before the tenant is made, because the service would only say it afterwards.
      if (hasAdmin && access === 'mail' && person.email.trim() === '') throw lacksEmail();
      const made = tenant ?? (await portal.post('/tenants', { body: { name } }));
      setTenant(made);
      void refreshTenants();
      if (!hasAdmin) return finish(made.name);
      const admin = user ?? (await createAdmin(made.id, person));
      setUser(admin);
      void refreshTenants();
      return setAccount({ ...person, ...(await giveAccess(admin.id, access)) });
    },
  });
  const errors = fieldErrors(create.error);
  const personField = (field: keyof typeof nobody) => ({
    name: field,
    value: person[field],
    onInput: (value: string) => setPerson({ ...person, [field]: value }),
    error: errors[field],
    disabled: user !== null,
  });

  if (account && tenant) return <Created tenant={tenant} account={account} onClose={onClose} />;
  return (
    <Dialog title={t.createTitle} onClose={onClose}>
      <Form
        onSubmit={() => create.mutateAsync()}
        error={create.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={create.isPending}>
              {t.create}
            </Button>
            {tenant ? (
              <Button onClick={() => finish(tenant.name)}>{t.skipAdmin}</Button>
            ) : (
              <Button onClick={onClose}>{t.cancel}</Button>
            )}
          </>
        }
      >
        {tenant && <p role="status">{t.tenantExists(tenant.name)}</p>}
        <TextField
          label={t.name}
          name="name"
          value={name}
          onInput={setName}
          hint={t.nameHint}
          required
          disabled={tenant !== null}
          error={errors['name']}
        />
        <CheckField
          label={t.withAdmin}
          name="withAdmin"
          checked={hasAdmin}
          onChange={setHasAdmin}
          disabled={tenant !== null}
          hint={t.withAdminHint}
        />
        {hasAdmin && (
          <>
            <TextField label={t.username} {...personField('username')} autocomplete="off" required />
            <TextField label={t.displayName} {...personField('displayName')} autocomplete="off" />
            <TextField
              label={t.email}
              {...personField('email')}
              type="email"
              autocomplete="off"
              required={access === 'mail'}
            />
            <RadioGroup
              legend={t.access}
              name="access"
              value={access}
              onChange={setAccess}
              options={[
                { value: 'password', label: t.password, hint: t.passwordHint },
                { value: 'mail', label: t.mail, hint: t.mailHint },
              ]}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

const lacksEmail = () =>
  new PortalError({
    code: 'VALIDATION_FAILED',
    message: 'The request is not valid.',
    details: [{ path: 'email', message: 'must be given for a welcome mail' }],
  });

const createAdmin = (tenantId: string, { username, displayName, email }: typeof nobody): Promise<User> =>
  portal.post('/users', {
    body: { username, role: 'ADMIN', tenantId, displayName: displayName.trim() || null, email: email.trim() || null },
  });

/** Mails a link. If that is not wanted or fails, there is a temporary password. */
async function giveAccess(id: string, access: Access): Promise<Pick<FirstAccount, 'access' | 'temporaryPassword'>> {
  const at = { params: { path: { id } } };
  const isSent = access === 'mail' && (await portal.post('/users/{id}/welcome-mail', at)).sent;
  if (isSent) return { access, temporaryPassword: null };
  const { temporaryPassword = null } = await portal.post('/users/{id}/reset-password', { ...at, body: {} });
  return { access, temporaryPassword };
}

interface CreatedProps {
  tenant: Tenant;
  account: FirstAccount;
  onClose: () => void;
}

function Created({ tenant, account: { username, email, access, temporaryPassword }, onClose }: CreatedProps) {
  const t = texts.value;
  return (
    <Dialog
      title={t.doneTitle}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t.close}
        </Button>
      }
    >
      <p>{t.createdTenant(tenant.name)}</p>
      {temporaryPassword === null ? (
        <p>{t.doneMail(username, email)}</p>
      ) : (
        <>
          <p>{access === 'mail' ? t.doneMailFailed(email) : t.donePassword}</p>
          <dl class={s.facts}>
            <div>
              <dt>{t.username}</dt>
              <dd>{username}</dd>
            </div>
            <div>
              <dt>{t.temporaryPassword}</dt>
              <dd>
                <code>{temporaryPassword}</code> <CopyButton text={temporaryPassword} />
              </dd>
            </div>
          </dl>
        </>
      )}
    </Dialog>
  );
}
