import { Plus } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import type { Breakpoint } from '../grid/breakpoints.ts';
import { useMutation } from '../mutation.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { FailedState } from '../ui/states.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { AddTileDialog } from './add-tile-dialog.tsx';
import css from './edit-mode.module.css';
import type { EditSession } from './edit-session.ts';
import { texts } from './edit-texts.ts';
import { ConfigureDialog, MoveToTabDialog } from './tile-dialogs.tsx';
import { addButtonId, handleHintId } from './tile-tools.tsx';

/** The commands of edit mode, its dialogs, and what screen readers say. */
export function EditBar({ session, breakpoint }: { session: EditSession; breakpoint: Breakpoint }) {
  const t = texts.value;
  const { isDirty } = session;
  const { dialog } = session;
  const close = () => session.close();

  const onError = (error: unknown) => {
    const code = error instanceof PortalError ? error.code : null;
    if (code === 'LAYOUT_CHANGED') session.open({ kind: 'conflict' });
    else if (code === 'GRID_VERSION_NEWER') session.open({ kind: 'newerGrid' });
    // The sign-in stands above the page; afterwards the person saves again.
    else if (code !== 'UNAUTHENTICATED') session.open({ kind: 'failed', error });
  };
  const save = useMutation({ mutationFn: () => session.save(), onError });
  const keepMine = useMutation({ mutationFn: () => session.keepMine(), onMutate: close, onError });
  const takeTheirs = useMutation({ mutationFn: () => session.takeTheirs(), onMutate: close, onError });

  useEffect(() => {
    // An open dialog has the focus.
    if (!session.dialog.peek()) document.getElementById(addButtonId)?.focus({ preventScroll: true });
    return () => {
      if (!session.isDirty) session.end();
    };
  }, []);
  useLeaveGuard(session);

  return (
    <>
      <div class={css.bar} role="group" aria-label={t.bar}>
        <span class={css.first}>
          <Button
            id={addButtonId}
            icon={Plus}
            aria-label={t.addTile}
            title={t.addTile}
            onClick={() => session.open({ kind: 'add' })}
          >
            <span class={css.wide}>{t.addTile}</span>
          </Button>
        </span>
        <span class={css.scope}>{t.scope(breakpoint)}</span>
        {isDirty && <Button onClick={() => session.discard()}>{t.discard}</Button>}
        <Button kind="primary" busy={save.isPending || keepMine.isPending} onClick={() => save.mutate()}>
          {isDirty ? t.save : t.done}
        </Button>
      </div>
      <VisuallyHidden>
        <span id={handleHintId}>{t.handleHint}</span>
        <span role="status">{session.spoken}</span>
      </VisuallyHidden>
      {dialog.value?.kind === 'add' && <AddTileDialog session={session} onClose={close} />}
      {dialog.value?.kind === 'configure' && <ConfigureDialog widget={dialog.value.widget} onClose={close} />}
      {dialog.value?.kind === 'moveToTab' && (
        <MoveToTabDialog session={session} widget={dialog.value.widget} onClose={close} />
      )}
      {dialog.value?.kind === 'leave' && <LeaveDialog session={session} href={dialog.value.href} onClose={close} />}
      {dialog.value?.kind === 'conflict' && (
        <Dialog
          title={t.conflictTitle}
          size="small"
          onClose={close}
          actions={
            <>
              <Button kind="primary" onClick={() => keepMine.mutate()}>
                {t.keepMine}
              </Button>
              <Button onClick={() => takeTheirs.mutate()}>{t.takeTheirs}</Button>
              <Button kind="ghost" onClick={close}>
                {t.cancel}
              </Button>
            </>
          }
        >
          <p>{t.conflict}</p>
        </Dialog>
      )}
      {dialog.value?.kind === 'newerGrid' && (
        <ConfirmDialog
          title={t.saveFailed}
          confirmLabel={t.discard}
          onConfirm={() => takeTheirs.mutateAsync()}
          onClose={close}
        >
          {t.newerGrid}
        </ConfirmDialog>
      )}
      {dialog.value?.kind === 'failed' && (
        <Dialog title={t.saveFailed} size="small" onClose={close}>
          <FailedState
            error={dialog.value.error}
            onRetry={() => {
              close();
              save.mutate();
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function LeaveDialog({ session, href, onClose }: { session: EditSession; href: string; onClose: () => void }) {
  const t = texts.value;
  const { route } = useLocation();
  const leave = () => {
    session.end();
    route(href);
  };
  return (
    <ConfirmDialog title={t.leaveTitle} confirmLabel={t.discard} danger onConfirm={leave} onClose={onClose}>
      {t.leave}
    </ConfirmDialog>
  );
}

/** Asks before a link or the browser leaves the page with unsaved changes. */
function useLeaveGuard(session: EditSession): void {
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    addEventListener(
      'beforeunload',
      (event) => {
        if (session.isDirty) event.preventDefault();
      },
      { signal },
    );
    // Before the router sees the click
    document.addEventListener(
      'click',
      (event) => {
        const href = session.isDirty && hrefInside(event);
        if (!href) return;
        event.preventDefault();
        event.stopPropagation();
        session.open({ kind: 'leave', href });
      },
      { signal, capture: true },
    );
    return () => end.abort();
  }, []);
}

/** The page of the portal that a click opens in this window. */
function hrefInside(event: MouseEvent): string | null {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!link || link.origin !== location.origin || link.hasAttribute('download')) return null;
  const opensHere = link.target === '' || link.target === '_self';
  const isOnPage = link.getAttribute('href')?.startsWith('#');
  return opensHere && !isOnPage ? link.pathname + link.search : null;
}
