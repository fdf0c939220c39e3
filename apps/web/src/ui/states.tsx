import { CloudAlert, Inbox, type IconNode, RotateCw, TriangleAlert, WifiOff } from 'lucide';
import type { ComponentChildren } from 'preact';
import { PortalError } from '@portal/client/portal-error';
import { formatNumber } from '../language.ts';
import { Button } from './button.tsx';
import { useErrorText } from './error-text.ts';
import { Icon } from './icon.tsx';
import s from './states.module.css';
import { texts } from './texts.ts';
import { Time } from './time.tsx';
import { VisuallyHidden } from './visually-hidden.tsx';

interface QueryViewProps<Data> {
  /** The result of `useQuery`. */
  query: {
    data: Data | undefined;
    error: unknown;
    dataUpdatedAt: number;
    fetchStatus: 'fetching' | 'paused' | 'idle';
    refetch: () => Promise<unknown>;
  };
  children: (data: Data) => ComponentChildren;
  /** True if there is nothing to show; by default an empty list. */
  empty?: ((data: Data) => boolean) | undefined;
  emptyState?: ComponentChildren;
  skeleton?: ComponentChildren;
}

/** Shows what a query has: its data, with a note if they are old, a skeleton, an empty or a failed state. */
export function QueryView<Data>({ query, children, empty = isEmptyList, emptyState, skeleton }: QueryViewProps<Data>) {
  const { data, fetchStatus } = query;
  const error = query.error ?? (fetchStatus === 'paused' ? lostConnection : null);
  const retry = () => void query.refetch();
  if (data === undefined) {
    if (error && fetchStatus !== 'fetching') return <FailedState error={error} onRetry={retry} />;
    return <>{skeleton ?? <Skeleton />}</>;
  }
  return (
    <>
      {error && <StaleNote at={query.dataUpdatedAt} error={error} onRetry={retry} />}
      {emptyState && empty(data) ? emptyState : children(data)}
    </>
  );
}

const isEmptyList = (data: unknown) => Array.isArray(data) && data.length === 0;

// A browser without a network pauses requests instead of failing.
const lostConnection = new PortalError({ code: 'UNREACHABLE', message: 'There is no connection.' });

/** Grey lines while something loads. They appear late, so that quick answers do not flicker. */
export function Skeleton({ lines = 3 }: { lines?: number | undefined }) {
  return (
    <div class={s.skeleton} role="status">
      <VisuallyHidden>{texts.value.loading}</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

interface EmptyStateProps {
  icon?: IconNode | undefined;
  title: ComponentChildren;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

export function EmptyState({ icon = Inbox, title, children, action }: EmptyStateProps) {
  return (
    <div class={s.state}>
      <Icon icon={icon} size={24} />
      <p class={s.title}>{title}</p>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

interface FailedStateProps {
  error: unknown;
  onRetry: () => void;
}

export function FailedState({ error, onRetry }: FailedStateProps) {
  const t = texts.value;
  const { text } = useErrorText(error);
  const isAway = isConnectionLost(error);
  return (
    <div class={s.state} role="status">
      <Icon icon={isAway ? WifiOff : CloudAlert} size={24} />
      <p class={s.title}>{isAway ? t.awayTitle : t.failedTitle}</p>
      <p>{text}</p>
      <ErrorTrace error={error} />
      <Button icon={RotateCw} onClick={onRetry}>
        {t.retry}
      </Button>
    </div>
  );
}

/** The code and the request id of an error, for a report to the operator. */
export function ErrorTrace({ error }: { error: unknown }) {
  const t = texts.value;
  const { code, requestId } = useErrorText(error);
  if (!code && !requestId) return null;
  const parts = [code && `${t.code} ${code}`, requestId && `${t.requestId} ${requestId}`];
  return <p class={s.trace}>{parts.filter(Boolean).join(' · ')}</p>;
}

interface StaleNoteProps {
  /** When the last good answer arrived, in milliseconds since 1970. */
  at: number;
  error: unknown;
  onRetry: () => void;
}

/** Tells that what is shown is old, and why. */
export function StaleNote({ at, error, onRetry }: StaleNoteProps) {
  const t = texts.value;
  const { text } = useErrorText(error);
  return (
    <div class={s.stale} role="status">
      <Icon icon={TriangleAlert} />
      <span>
        {t.lastAnswer} <Time value={at} />. {text}
      </span>
      <Button size="small" kind="ghost" icon={RotateCw} onClick={onRetry}>
        {t.retry}
      </Button>
    </div>
  );
}

interface ProgressProps {
  label: ComponentChildren;
  /** Unknown if left out. */
  value?: number | undefined;
  max?: number | undefined;
}

export function Progress({ label, value, max = 1 }: ProgressProps) {
  return (
    <label class={s.progress}>
      <span>
        {label}
        {value !== undefined && max > 0 && ` ${formatNumber((100 * value) / max, 0)} %`}
      </span>
      <progress value={value} max={max} />
    </label>
  );
}

const isConnectionLost = (error: unknown) => error instanceof PortalError && error.code === 'UNREACHABLE';
