import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { language } from '../language.ts';
import { lazy } from '../lazy.tsx';
import { useMutation } from '../mutation.ts';
import { signOut } from '../open-session.ts';
import { portal } from '../portal.ts';
import { me, sessionState } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card, Page } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { EntryPage } from './entry-page.tsx';
import { useHashToken } from './hash-token.ts';
import { NewPasswordField } from './new-password-field.tsx';
import { nextPath } from './next-path.ts';
import { Outcome } from './outcome.tsx';
import { texts } from './password-texts.ts';

export function ForgotPasswordPage() {
  const t = texts.value;
  const [identifier, setIdentifier] = useState('');
  const request = useMutation({
    mutationFn: (identifier: string) =>
      portal.post('/auth/request-reset', { body: { identifier, language: language.value } }),
  });
  return (
    <EntryPage title={pageNames.value.forgotPassword}>
      {request.isSuccess ? (
        <Outcome kind="info" text={t.requested}>
          <p>{t.requestedHint}</p>
          <Button onClick={() => request.reset()}>{t.requestAgain}</Button>
        </Outcome>
      ) : (
        <Form
          onSubmit={() => request.mutateAsync(identifier)}
          error={request.error}
          actions={
            <Button type="submit" kind="primary" busy={request.isPending}>
              {t.requestLink}
            </Button>
          }
        >
          <p>{t.forgotIntro}</p>
          <TextField
            label={t.identifier}
            name="identifier"
            value={identifier}
            onInput={setIdentifier}
            autocomplete="username"
            required
            error={fieldErrors(request.error)['identifier']}
          />
        </Form>
      )}
      <a href="/app/sign-in">{t.toSignIn}</a>
    </EntryPage>
  );
}

/** Sets a new password with the token of a mailed link. */
export function ResetPasswordPage() {
  const token = useHashToken();
  return (
    <EntryPage title={pageNames.value.resetPassword}>
      {token === null ? <IncompleteLink /> : <ResetPassword key={token} token={token} />}
    </EntryPage>
  );
}

function ResetPassword({ token }: { token: string }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const [newPassword, setNewPassword] = useState('');
  const reset = useMutation({
    mutationFn: (newPassword: string) => portal.post('/auth/reset-password', { body: { token, newPassword } }),
    onSuccess: () => go('/app/sign-in?notice=password-set', true),
  });
  if (isLinkRefused(reset.error))
    return (
      <Outcome kind="error" text={t.linkInvalid}>
        <LinkButton href="/app/forgot-password">{t.requestNewLink}</LinkButton>
      </Outcome>
    );
  return (
    <Form
      onSubmit={() => reset.mutateAsync(newPassword)}
      error={reset.error}
      actions={
        <Button type="submit" kind="primary" busy={reset.isPending}>
          {t.save}
        </Button>
      }
    >
      <NewPasswordField value={newPassword} onInput={setNewPassword} error={reset.error} />
    </Form>
  );
}

/** Confirms an address with the token of a mailed link. By a button, because mail scanners open links, too. */
export function ConfirmEmailPage() {
  const token = useHashToken();
  return (
    <EntryPage title={pageNames.value.confirmEmail}>
      {token === null ? <IncompleteLink /> : <ConfirmEmail key={token} token={token} />}
    </EntryPage>
  );
}

function ConfirmEmail({ token }: { token: string }) {
  const t = texts.value;
  const confirm = useMutation({ mutationFn: () => portal.post('/auth/confirm-email', { body: { token } }) });
  const isRefused = isLinkRefused(confirm.error);
  if (confirm.isSuccess || isRefused)
    return (
      <Outcome kind={isRefused ? 'error' : 'ok'} text={isRefused ? t.confirmInvalid : t.confirmed}>
        <LinkButton href="/app/me">{t.toAccount}</LinkButton>
      </Outcome>
    );
  return (
    <Form
      onSubmit={() => confirm.mutateAsync()}
      error={confirm.error}
      actions={
        <Button type="submit" kind="primary" busy={confirm.isPending}>
          {t.confirm}
        </Button>
      }
    >
      <p>{t.confirmIntro}</p>
    </Form>
  );
}

/** A damaged token fails the check of its form, a valid form may still name no open change: to the person, both are an unusable link. */
const isLinkRefused = (error: unknown): boolean =>
  error instanceof PortalError &&
  (error.code === 'TOKEN_INVALID' || error.details.some(({ path }) => path === 'token'));

const IncompleteLink = () => <Outcome kind="warning" text={texts.value.linkIncomplete} />;

/** For a change by choice, and for one that the service demands before it answers anything else. */
export function ChangePasswordPage() {
  const t = texts.value;
  const { query, route: go } = useLocation();
  const isLocal = me.value?.isLocalUser ?? false;
  const leave = () => {
    showToast(t.changed, { kind: 'success' });
    go(nextPath(query['next']), true);
  };
  const content = isLocal ? <ChangePasswordForm onChanged={leave} /> : <p>{t.directory}</p>;

  if (!me.value?.mustChangePassword)
    return (
      <Page title={pageNames.value.changePassword}>
        <Card>{content}</Card>
      </Page>
    );
  return (
    <EntryPage title={pageNames.value.changePassword}>
      <p>{t.forcedIntro}</p>
      {content}
      <SignOut />
      {/* There is no frame that could show it. */}
      {sessionState.value === 'lost' && <SignInDialog />}
    </EntryPage>
  );
}

const SignInDialog = lazy(() => import('./sign-in-dialog.tsx').then(({ SignInDialog }) => SignInDialog));

function SignOut() {
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => location.assign('/app/sign-in') });
  return (
    <Form
      onSubmit={() => leave.mutateAsync()}
      error={leave.error}
      actions={
        <Button type="submit" kind="ghost" busy={leave.isPending}>
          {texts.value.signOut}
        </Button>
      }
    >
      {null}
    </Form>
  );
}
