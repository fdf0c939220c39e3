import type { Server } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import columns from '../mail-settings/mail-settings.module.css';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { FileField, RadioGroup, SelectField, SwitchField, TextField } from '../ui/field.tsx';
import formStyle from '../ui/form.module.css';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { SecretField } from '../ui/secret-field.tsx';
import { Progress } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { texts } from './form-texts.ts';
import { bodyOf, draftOf, hasSecret, methodOf, type ServerDraft } from './server-draft.ts';
import { kinds } from './server-filter.ts';
import { keepServer, readServer } from './servers.ts';
import { TestResult } from './test-result.tsx';
import { texts as pageTexts } from './texts.ts';

interface ServerFormProps {
  /** Null for a new one. */
  server: Server | null;
  onSaved?: ((server: Server) => void) | undefined;
  onCancel?: (() => void) | undefined;
}

/** Where a server is, how the portal signs in there, and when it asks. All can be tested before it is saved. */
export function ServerForm({ server, onSaved, onCancel }: ServerFormProps) {
  const t = texts.value;
  const form = useStoredForm<Server | null, ServerDraft>({
    row: server,
    draftOf,
    read: async () => server && readServer(server.id),
    write: (draft) => write(server, draft),
    onSaved: (saved) => {
      if (!saved) return;
      keepServer(saved);
      test.reset();
      showToast(saved.isActive ? t.saved(saved.name) : t.savedOff(saved.name), { kind: 'success' });
      onSaved?.(saved);
    },
    labels: {
      kind: t.kind,
      name: t.name,
      address: t.address,
      authMethod: t.authMethod,
      tokenId: t.tokenId,
      username: t.username,
      secret: t.tokenSecret,
      verifyTls: t.verifyTls,
      caCertificatePem: t.ca,
      pollIntervalMin: t.pollIntervalMin,
      isActive: t.isActive,
    },
    words: inWords,
  });
  const test = useMutation({
    mutationFn: async (draft: ServerDraft) => {
      const body = { ...bodyOf(draft), ...(server && { id: server.id }) };
      return { of: draft, result: await portal.post('/virtualization/servers/test', { body }) };
    },
    onMutate: form.forgetError,
  });
  const refusal = form.error ?? test.error;
  const isCurrent = test.data && JSON.stringify(test.data.of) === JSON.stringify(form.draft);

  return (
    <div class={formStyle.form}>
      <Form
        label={t.settings}
        onSubmit={() => {
          test.reset();
          return form.submit();
        }}
        error={refusal}
        actions={
          <StoredFormActions
            form={form}
            test={{ label: t.test, isBusy: test.isPending, run: () => test.mutate(form.draft) }}
            onCancel={onCancel}
          />
        }
      >
        <Fields form={form} server={server} refusal={refusal} />
      </Form>
      <div role="status">
        {test.isPending && <Progress label={t.testing} />}
        {test.data && !test.isPending && (
          <TestResult draft={test.data.of} result={test.data.result} isOld={!isCurrent} />
        )}
      </div>
      {form.question}
    </div>
  );
}

const write = (server: Server | null, draft: ServerDraft): Promise<Server> => {
  const body = bodyOf(draft);
  return server
    ? portal.put('/virtualization/servers/{id}', { params: { path: { id: server.id } }, body })
    : portal.post('/virtualization/servers', { body });
};

function inWords(field: keyof ServerDraft, draft: ServerDraft): string {
  const t = texts.value;
  const value = draft[field];
  if (typeof value === 'boolean') return value ? t.yes : t.no;
  if (field === 'kind') return pageTexts.value.kinds[draft.kind];
  if (field === 'authMethod') return t.methods[draft.authMethod];
  if (field === 'secret') return value === '' ? '' : t.newSecret;
  return value;
}

interface FieldsProps {
  form: ReturnType<typeof useStoredForm<Server | null, ServerDraft>>;
  server: Server | null;
  refusal: unknown;
}

const usualPort = { virtualization: 8006, backup: 8007, 'mail-gateway': 8006 };

function Fields({ form: { draft, set, change }, server, refusal }: FieldsProps) {
  const t = texts.value;
  const errors = fieldErrors(refusal);
  return (
    <>
      <div class={columns.columns}>
        <SelectField
          label={t.kind}
          name="kind"
          value={draft.kind}
          onChange={(value) => change(withKind(draft, kinds.find((kind) => kind === value) ?? draft.kind))}
          options={kinds.map((kind) => ({ value: kind, label: pageTexts.value.kinds[kind] }))}
          error={errors['kind']}
        />
        <TextField
          label={t.name}
          name="name"
          required
          maxLength={200}
          autocomplete="off"
          value={draft.name}
          onInput={set('name')}
          hint={t.nameHint}
          error={errors['name']}
        />
        <TextField
          label={t.address}
          name="address"
          required
          autocomplete="off"
          value={draft.address}
          onInput={set('address')}
          hint={t.addressHint(usualPort[draft.kind])}
          error={errors['address']}
        />
        <TextField
          label={t.pollIntervalMin}
          name="pollIntervalMin"
          type="number"
          min={1}
          max={1_440}
          required
          value={draft.pollIntervalMin}
          onInput={set('pollIntervalMin')}
          hint={t.pollIntervalHint}
          error={errors['pollIntervalMin']}
        />
      </div>
      <SwitchField
        label={t.isActive}
        name="isActive"
        checked={draft.isActive}
        onChange={set('isActive')}
        hint={t.isActiveHint}
      />
      <Card title={t.access} level={3}>
        <p class={profile.note}>{t.accessHint}</p>
        <Account draft={draft} set={set} change={change} server={server} refusal={refusal} />
      </Card>
      <SwitchField
        label={t.verifyTls}
        name="verifyTls"
        checked={draft.verifyTls}
        onChange={set('verifyTls')}
        hint={!draft.verifyTls && t.verifyOff}
      />
      {draft.verifyTls && (
        <>
          <TextField
            label={t.ca}
            name="caCertificatePem"
            multiline
            rows={3}
            value={draft.caCertificatePem}
            onInput={set('caCertificatePem')}
            hint={t.caHint}
            error={errors['caCertificatePem']}
          />
          <FileField
            label={t.caFile}
            accept=".pem,.crt,.cer"
            onFiles={([file]) => void file?.text().then(set('caCertificatePem'))}
          />
        </>
      )}
    </>
  );
}

const usualRealm = { virtualization: 'pve', backup: 'pbs', 'mail-gateway': 'pmg' };

/** A secret belongs to its method, so a kind with another method begins without one. */
function withKind(draft: ServerDraft, kind: ServerDraft['kind']): Partial<ServerDraft> {
  return methodOf({ ...draft, kind }) === methodOf(draft) ? { kind } : { kind, secret: '' };
}

/** How the portal signs in. */
function Account({
  draft,
  set,
  change,
  server,
  refusal,
}: Omit<FieldsProps, 'form'> & Pick<FieldsProps['form'], 'draft' | 'set' | 'change'>) {
  const t = texts.value;
  const errors = fieldErrors(refusal);
  const isToken = methodOf(draft) === 'token';
  const secret = {
    value: draft.secret,
    onInput: set('secret'),
    isStored: hasSecret(server, draft),
    required: server === null,
    mustGiveAgain: refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED',
  };
  return (
    <>
      {draft.kind === 'mail-gateway' ? (
        <p>{t.gatewayPassword}</p>
      ) : (
        <RadioGroup
          legend={t.authMethod}
          name="authMethod"
          value={draft.authMethod}
          onChange={(authMethod) => change({ authMethod, secret: '' })}
          options={[
            { value: 'token', label: t.methods.token, hint: t.tokenRecommended },
            { value: 'password', label: t.methods.password },
          ]}
          error={errors['authMethod']}
        />
      )}
      <div class={columns.columns}>
        {isToken ? (
          <>
            <TextField
              label={t.tokenId}
              name="tokenId"
              autocomplete="off"
              value={draft.tokenId}
              onInput={set('tokenId')}
              hint={t.tokenIdHint}
              error={errors['tokenId']}
            />
            <SecretField
              key="token"
              label={t.tokenSecret}
              name="tokenSecret"
              hint={t.tokenSecretHint}
              error={errors['tokenSecret']}
              {...secret}
            />
          </>
        ) : (
          <>
            <TextField
              label={t.username}
              name="username"
              required
              autocomplete="off"
              value={draft.username}
              onInput={set('username')}
              hint={t.usernameHint(usualRealm[draft.kind])}
              error={errors['username']}
            />
            <SecretField key="password" label={t.password} name="password" error={errors['password']} {...secret} />
          </>
        )}
      </div>
    </>
  );
}
