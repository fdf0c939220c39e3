import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import s from './dialog.module.css';
import { Form } from './form.tsx';
import { returnFocus } from './return-focus.ts';
import { texts } from './texts.ts';
import { ToastsInDialog } from './toast.tsx';
import { leaveWhenSaved, shownForms, useUnsavedChanges, wantedLeave } from './unsaved.ts';

interface DialogProps {
  title: ComponentChildren;
  /** Escape or the close button, once the person agreed to lose what is not saved. */
  onClose: () => void;
  children: ComponentChildren;
  actions?: ComponentChildren;
  size?: 'small' | 'normal' | 'wide' | undefined;
  /** Name for screen readers, if the title does not say enough. */
  label?: string | undefined;
  /** Closes without a question: what is entered is kept elsewhere, or is worth nothing afterwards. */
  isSafeToClose?: boolean | undefined;
}

/**
 * A modal dialog: it is open as long as it is rendered. A click outside does not close it, and Escape and the close button ask first if
 * a field of its forms was changed, so nothing typed is lost.
 */
export function Dialog({
  title,
  onClose,
  children,
  actions,
  size = 'normal',
  label,
  isSafeToClose = false,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [behind] = useState(shownForms);
  const { isEdited, keepFirstValues } = useFirstValues();
  useUnsavedChanges(isSafeToClose ? false : isEdited);
  const close = () => (isSafeToClose ? onClose() : leaveWhenSaved(onClose, behind));

  useLayoutEffect(() => {
    const { current } = dialog;
    if (!current) return undefined;
    const opener = document.activeElement;
    current.showModal();
    if (!current.querySelector('[autofocus]'))
      current.querySelector<HTMLElement>(`.${s.body} :is(input, select, textarea)`)?.focus();
    return () => {
      current.close();
      returnFocus(opener);
    };
  }, []);

  return (
    <dialog
      ref={dialog}
      class={s.dialog}
      data-size={size}
      aria-label={label}
      aria-labelledby={label ? undefined : titleId}
      onCancel={(event) => {
        // A file input inside cancels, too.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        close();
      }}
      onClose={({ target, currentTarget }) => {
        // A browser closes the dialog itself when Escape is pressed twice.
        if (target !== currentTarget || !currentTarget.isConnected) return;
        close();
        if (wantedLeave.peek()) currentTarget.showModal();
      }}
      onFocusIn={keepFirstValues}
    >
      <div class={s.head}>
        <h2 id={titleId} dir="auto">
          {title}
        </h2>
        <IconButton icon={X} label={texts.value.close} onClick={close} />
      </div>
      <div class={s.body}>{children}</div>
      {actions && <div class={s.foot}>{actions}</div>}
      <ToastsInDialog />
    </dialog>
  );
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Compares the fields of forms with what they held when the person first came to their form. */
function useFirstValues() {
  const [first] = useState(() => new Map<Field, string>());
  const [isEdited] = useState(
    () => () => [...first].some(([field, value]) => field.isConnected && valueOf(field) !== value),
  );
  return {
    isEdited,
    keepFirstValues({ target }: Event) {
      const form = target instanceof Element ? target.closest('form') : null;
      for (const field of form?.querySelectorAll<Field>('input:not([type="search"]), select, textarea') ?? [])
        if (!first.has(field)) first.set(field, valueOf(field));
    },
  };
}

const valueOf = (field: Field): string =>
  'checked' in field && /^(?:checkbox|radio)$/.test(field.type) ? String(field.checked) : field.value;

interface ConfirmDialogProps {
  title: ComponentChildren;
  /** Names what goes. */
  children: ComponentChildren;
  confirmLabel: string;
  danger?: boolean | undefined;
  /** Closes the dialog unless it fails. */
  onConfirm: () => Promise<unknown> | void;
  onClose: () => void;
}

export function ConfirmDialog({ title, children, confirmLabel, danger, onConfirm, onClose }: ConfirmDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );

  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      if (isMounted.current) onClose();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog title={title} onClose={onClose} size="small">
      <Form
        onSubmit={confirm}
        error={error}
        actions={
          <>
            <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={isBusy}>
              {confirmLabel}
            </Button>
            <Button autofocus onClick={onClose}>
              {texts.value.cancel}
            </Button>
          </>
        }
      >
        <div>{children}</div>
      </Form>
    </Dialog>
  );
}
