import { CircleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { fieldTextOf, loadErrorTexts, useErrorText } from './error-text.ts';
import s from './form.module.css';
import { Icon } from './icon.tsx';
import { ErrorTrace } from './states.tsx';

interface FormProps {
  /** Until the promise settles, the form is not sent again. */
  onSubmit: () => void | Promise<unknown>;
  /** The refusal of the last attempt. */
  error?: unknown;
  children: ComponentChildren;
  actions?: ComponentChildren;
  /** Name of the form for screen readers. */
  label?: string | undefined;
  id?: string | undefined;
}

export function Form({ onSubmit, error, children, actions, label, id }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const isSending = useRef(false);
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);

  const submit = async () => {
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    loadErrorTexts();
    try {
      await onSubmit();
    } catch {
      // The page passes the reason as `error`.
    } finally {
      isSending.current = false;
      setBusy(false);
    }
  };

  return (
    <form
      ref={form}
      id={id}
      class={s.form}
      aria-label={label}
      aria-busy={isBusy}
      // The service checks; its refusals look alike and speak the language of the page.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {children}
      <div role="alert">{error ? <Refusal error={error} /> : null}</div>
      {actions && <div class={s.actions}>{actions}</div>}
    </form>
  );
}

function Refusal({ error }: { error: unknown }) {
  const { text } = useErrorText(error);
  return (
    <div class={s.refusal}>
      <Icon icon={CircleAlert} />
      <div>
        <p>{text}</p>
        <ErrorTrace error={error} />
      </div>
    </div>
  );
}

/** The refused fields of a form: path → text. */
export function fieldErrors(error: unknown): Record<string, string> {
  const refused: Record<string, string> = {};
  if (!(error instanceof PortalError)) return refused;
  for (const { path, message } of error.details) refused[path] ??= fieldTextOf(message);
  return refused;
}
