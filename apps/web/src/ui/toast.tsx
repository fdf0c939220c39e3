import { signal } from '@preact/signals';
import { X } from 'lucide';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import { returnFocus } from './return-focus.ts';
import { Status } from './status.tsx';
import { texts } from './texts.ts';
import s from './toast.module.css';

interface ToastOptions {
  kind?: 'info' | 'success' | 'error' | undefined;
  /** Shows a button that calls it. Ctrl+Z does, too, outside of text fields. */
  undo?: (() => void) | undefined;
  /** A button that takes the message away and does this. */
  action?: { label: string; run: () => void } | undefined;
  /** How long it is shown; some seconds if left out. */
  shownMs?: number | undefined;
  /** Called once when the message goes without having been undone. */
  onEnd?: (() => void) | undefined;
}

interface Toast extends ToastOptions {
  id: number;
  text: string;
}

const shown = signal<readonly Toast[]>([]);
let lastId = 0;
const maxToasts = 4;
const none: readonly Toast[] = [];

/** Tells what happened, for some seconds. */
export function showToast(text: string, options: ToastOptions = {}): void {
  lastId += 1;
  const toasts = [...shown.value, { ...options, id: lastId, text }];
  shown.value = toasts.slice(-maxToasts);
  for (const { onEnd } of toasts.slice(0, -maxToasts)) onEnd?.();
}

/** Takes a message away. Returns false if it had already gone. */
function remove(id: number): boolean {
  const remaining = shown.value.filter((toast) => toast.id !== id);
  const isThere = remaining.length < shown.value.length;
  shown.value = remaining;
  return isThere;
}

/** Places of messages in open dialogs, the uppermost last. */
const places = signal<readonly symbol[]>([]);

/** The place of all messages on the page. The frame shows it once. */
export function Toasts() {
  useEffect(() => {
    document.addEventListener('keydown', undoByKey);
    return () => document.removeEventListener('keydown', undoByKey);
  }, []);
  return <Place isShowing={places.value.length === 0} />;
}

/** The place of all messages while a modal dialog is open: only what is inside the dialog can be used then. */
export function ToastsInDialog() {
  const [place] = useState(() => Symbol('place'));
  useLayoutEffect(() => {
    places.value = [...places.value, place];
    return () => {
      places.value = places.value.filter((other) => other !== place);
    };
  }, []);
  return <Place isShowing={places.value.at(-1) === place} />;
}

function Place({ isShowing }: { isShowing: boolean }) {
  const region = useRef<HTMLDivElement>(null);
  const cameFrom = useRef<Element | null>(null);
  const toasts = isShowing ? shown.value : none;

  // Always there, because screen readers miss the first words of a region that has only just appeared. A popover lies above a dialog.
  useEffect(() => region.current?.showPopover(), []);

  // The focus of a message that goes returns to where it was before.
  useEffect(() => {
    if (!cameFrom.current || document.activeElement !== document.body) return;
    returnFocus(cameFrom.current);
    cameFrom.current = null;
  }, [toasts]);

  return (
    <div
      ref={region}
      class={s.toasts}
      popover="manual"
      role="region"
      aria-label={texts.value.messages}
      onFocusIn={({ relatedTarget }) => {
        if (relatedTarget instanceof Element && !region.current?.contains(relatedTarget))
          cameFrom.current = relatedTarget;
      }}
    >
      <div role="status" aria-live="polite">
        {toasts.map((toast) => (
          <Message key={toast.id} toast={toast} />
        ))}
      </div>
    </div>
  );
}

const usualMs = 6_000;
const kinds = { info: 'info', success: 'ok', error: 'error' } as const;

function Message({ toast }: { toast: Toast }) {
  const { id, text, kind = 'info', undo, action, shownMs = usualMs, onEnd } = toast;
  const t = texts.value;
  const [isHeld, setHeld] = useState(false);
  const end = () => {
    if (remove(id)) onEnd?.();
  };
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(end, shownMs);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const hold = () => setHeld(true);
  const release = () => setHeld(false);
  return (
    <div class={s.toast} onMouseEnter={hold} onMouseLeave={release} onFocusIn={hold} onFocusOut={release}>
      <Status kind={kinds[kind]}>
        <span dir="auto">{text}</span>
      </Status>
      {undo && (
        <Button
          size="small"
          aria-keyshortcuts="Control+Z"
          onClick={() => {
            remove(id);
            undo();
          }}
        >
          {t.undo}
        </Button>
      )}
      {action && (
        <Button
          size="small"
          onClick={() => {
            end();
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton size="small" icon={X} label={t.dismiss} onClick={end} />
    </div>
  );
}

function undoByKey(event: KeyboardEvent): void {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'z';
  const isInText = event.target instanceof HTMLElement && event.target.closest('input, textarea, [contenteditable]');
  const toast = shown.value.findLast(({ undo }) => undo);
  if (!isUndo || isInText || !toast?.undo) return;
  event.preventDefault();
  remove(toast.id);
  toast.undo();
}
