import { SearchX } from 'lucide';
import type { ComponentChildren } from 'preact';
import type { AuditEntry } from '@portal/client/interface';
import s from '../accounts/facts.module.css';
import { language, timeZone } from '../language.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { actionName } from './action-names.ts';
import { useAuditEntry } from './queries.ts';
import { texts } from './texts.ts';

interface EntryDialogProps {
  id: string;
  /** The entry, if the list behind the dialog has it. */
  listed: AuditEntry | undefined;
  /** The address of the list with nothing but this. */
  linkTo: (only: Record<string, string>) => string;
  onClose: () => void;
}

/** One entry with all that it says, and a link to it. */
export function EntryDialog({ id, listed, linkTo, onClose }: EntryDialogProps) {
  const t = texts.value;
  const found = useAuditEntry(id, !listed);
  const entry = listed ?? found.data ?? null;
  return (
    <Dialog
      title={entry ? actionName(entry.action) : t.entry}
      onClose={onClose}
      actions={
        <>
          <Button kind="primary" autofocus onClick={onClose}>
            {t.close}
          </Button>
          {entry && (
            <>
              <CopyButton text={location.origin + linkTo({ entry: entry.id })} size="normal">
                {t.copyLink}
              </CopyButton>
              {entry.actorId && <LinkButton href={linkTo({ actor: entry.actorId })}>{t.onlyActor}</LinkButton>}
              <LinkButton href={linkTo({ action: entry.action })}>{t.onlyAction}</LinkButton>
            </>
          )}
        </>
      }
    >
      {listed ? (
        <Facts entry={listed} />
      ) : (
        <QueryView query={found}>
          {(data) =>
            data ? (
              <Facts entry={data} />
            ) : (
              <EmptyState icon={SearchX} title={t.gone}>
                {t.goneText}
              </EmptyState>
            )
          }
        </QueryView>
      )}
    </Dialog>
  );
}

function Facts({ entry }: { entry: AuditEntry }) {
  const t = texts.value;
  const { id, at, actorId, actorName, action, targetType, targetId, summary, ip } = entry;
  return (
    <>
      <p lang="en" dir="auto">
        {summary}
      </p>
      <dl class={s.facts}>
        <Fact label={t.when}>
          <time dateTime={at}>{exactTime(at)}</time>
        </Fact>
        <Fact label={t.who}>
          {actorId ? <a href={`/app/admin/users/${actorId}`}>{actorName ?? actorId}</a> : (actorName ?? t.nobody)}
        </Fact>
        <Fact label={t.address}>{ip ?? t.nothing}</Fact>
        <Fact label={t.target}>
          <Target type={targetType} id={targetId} isGone={action.endsWith('.delete')} />
        </Fact>
        <Fact label={t.action}>
          <code>{action}</code>
        </Fact>
        <Fact label={t.id}>
          <code>{id}</code>
        </Fact>
      </dl>
    </>
  );
}

const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd dir="auto">{children}</dd>
  </div>
);

/** What an entry is about. What has a page is a link. */
function Target({ type, id, isGone }: { type: string | null; id: string | null; isGone: boolean }) {
  const t = texts.value;
  if (type === null) return <>{t.nothing}</>;
  const known: Readonly<Record<string, string>> = t.targets;
  const name = known[type] ?? type;
  const page = isGone ? null : pageOf(type, id);
  return (
    <>
      {page ? <a href={page}>{name}</a> : name}
      {id && (
        <>
          {' '}
          <code>{id}</code>
        </>
      )}
    </>
  );
}

function pageOf(type: string, id: string | null): string | null {
  if (type === 'user' && id) return `/app/admin/users/${id}`;
  if (type === 'group') return '/app/admin/groups';
  if (type === 'module' || type === 'module_category') return '/app/admin/modules';
  return null;
}

// An order of events often shows only in the seconds.
const exactTime = (at: string): string =>
  new Intl.DateTimeFormat(language.value === 'de' ? 'de-DE' : 'en-GB', {
    timeZone,
    dateStyle: 'full',
    timeStyle: 'long',
  }).format(new Date(at));
