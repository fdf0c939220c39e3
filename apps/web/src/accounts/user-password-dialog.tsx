import { Copy } from 'lucide';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { namedInText } from './user-words.ts';
import { refreshUsers } from './users-queries.ts';
import { texts } from './users-texts.ts';
import s from './users.module.css';

interface PasswordDialogProps {
  user: User;
  /** For an account that has just been made: nothing is lost, so nothing is asked. */
  startsAtOnce?: boolean | undefined;
  onClose: () => void;
}

/** Gives an account a temporary password and shows it once. */
export function PasswordDialog({ user, startsAtOnce = false, onClose }: PasswordDialogProps) {
  const t = texts.value;
  const name = namedInText(user);
  const reset = useMutation({
    mutationFn: () => portal.post('/users/{id}/reset-password', { params: { path: { id: user.id } }, body: {} }),
    onSettled: () => refreshUsers(),
  });
  useEffect(() => {
    if (startsAtOnce) reset.mutate();
  }, []);
  const password = reset.data?.temporaryPassword;
  if (password !== undefined) return <TemporaryPassword name={name} password={password} onClose={onClose} />;
  if (startsAtOnce && !reset.error) {
    return (
      <Dialog title={t.passwordMade(name)} size="small" onClose={onClose}>
        <Skeleton lines={1} />
      </Dialog>
    );
  }
  return (
    <Dialog title={startsAtOnce ? t.passwordMade(name) : t.passwordTitle} size="small" onClose={onClose}>
      <Form
        onSubmit={() => reset.mutateAsync()}
        error={reset.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={reset.isPending}>
              {t.makePassword}
            </Button>
            <Button autofocus onClick={onClose}>
              {t.cancel}
            </Button>
          </>
        }
      >
        {!startsAtOnce && <p>{t.passwordText(name)}</p>}
      </Form>
    </Dialog>
  );
}

interface TemporaryPasswordProps {
  name: string;
  password: string;
  onClose: () => void;
}

function TemporaryPassword({ name, password, onClose }: TemporaryPasswordProps) {
  const t = texts.value;
  const shown = useRef<HTMLElement>(null);
  const [state, setState] = useState<'shown' | 'copied' | 'notCopyable' | 'warned'>('shown');
  useLayoutEffect(() => document.querySelector<HTMLElement>('dialog[open] [data-copy]')?.focus(), []);
  const copy = async () => {
    const range = document.createRange();
    if (shown.current) range.selectNodeContents(shown.current);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    // Without https there is no clipboard, but there is the selection.
    const isCopied = await navigator.clipboard?.writeText(password).then(
      () => true,
      () => false,
    );
    setState(isCopied ? 'copied' : 'notCopyable');
  };
  const close = () => {
    if (state === 'shown') setState('warned');
    else onClose();
  };
  return (
    <Dialog
      title={t.passwordMade(name)}
      size="small"
      onClose={close}
      actions={
        <>
          <Button kind={state === 'copied' ? 'secondary' : 'primary'} icon={Copy} data-copy onClick={() => void copy()}>
            {t.copy}
          </Button>
          <Button kind={state === 'copied' ? 'primary' : 'secondary'} onClick={close}>
            {state === 'warned' ? t.closeAnyway : t.done}
          </Button>
        </>
      }
    >
      <p>
        {t.password}: <code ref={shown}>{password}</code>
      </p>
      <p class={s.muted}>{t.passwordOnce}</p>
      <div role="status">
        {state === 'copied' && <Status kind="ok">{t.copied}</Status>}
        {state === 'notCopyable' && <Status kind="warning">{t.copyByHand}</Status>}
        {state === 'warned' && <Status kind="warning">{t.notCopied}</Status>}
      </div>
    </Dialog>
  );
}
