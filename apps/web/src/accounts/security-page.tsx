import { useState } from 'preact/hooks';
import type { Session } from '@portal/client/interface';
import { me } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Card, Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { deviceOf } from './device-words.ts';
import { texts as passwordTexts } from './password-texts.ts';
import { useEndAllSessions, useEndSession, useSessions } from './queries.ts';
import { texts } from './security-texts.ts';

export function SecurityPage() {
  const t = texts.value;
  const { changed, directory } = passwordTexts.value;
  return (
    <Page title={pageNames.value.security}>
      <Card title={t.passwordTitle}>
        {me.value?.isLocalUser ? (
          <ChangePasswordForm onChanged={() => showToast(changed, { kind: 'success' })} />
        ) : (
          <p>{directory}</p>
        )}
      </Card>
      <Sessions />
    </Page>
  );
}

function Sessions() {
  const t = texts.value;
  const sessions = useSessions();
  const [isEndingAll, setEndingAll] = useState(false);
  const endAll = useEndAllSessions();
  return (
    <Card title={t.sessionsTitle} actions={<Button onClick={() => setEndingAll(true)}>{t.endAll}</Button>}>
      <p>{me.value?.isLocalUser ? t.sessionsIntro : t.sessionsIntroDirectory}</p>
      <QueryView query={sessions}>
        {(rows) => (
          <Table
            caption={t.sessionsTitle}
            columns={columns()}
            rows={rows}
            rowKey={({ id }) => id}
            empty={<p>{t.noSessions}</p>}
          />
        )}
      </QueryView>
      {isEndingAll && (
        <ConfirmDialog
          title={t.endAllTitle}
          confirmLabel={t.endAll}
          danger
          onConfirm={() => endAll.mutateAsync()}
          onClose={() => setEndingAll(false)}
        >
          {t.endAllText}
        </ConfirmDialog>
      )}
    </Card>
  );
}

function columns(): Column<Session>[] {
  const t = texts.value;
  return [
    {
      key: 'device',
      label: t.device,
      cell: (session) => <span title={session.userAgent ?? undefined}>{nameOf(session)}</span>,
    },
    { key: 'address', label: t.address, cell: ({ ip }) => ip ?? t.unknownAddress },
    { key: 'lastSeen', label: t.lastSeen, cell: ({ lastSeenAt }) => <Time value={lastSeenAt} style="relative" /> },
    { key: 'signedIn', label: t.signedIn, cell: ({ createdAt }) => <Time value={createdAt} /> },
    {
      key: 'session',
      label: t.session,
      align: 'end',
      cell: (session) =>
        session.current ? <Badge kind="accent">{t.current}</Badge> : <EndSession session={session} />,
    },
  ];
}

function EndSession({ session }: { session: Session }) {
  const t = texts.value;
  const end = useEndSession();
  const name = nameOf(session);
  return (
    <Button
      size="small"
      busy={end.isPending}
      aria-label={t.endNamed(name)}
      onClick={() =>
        end.mutate(session.id, {
          onSuccess: () => showToast(t.ended(name), { kind: 'success' }),
          onError: () => showToast(t.notEnded(name), { kind: 'error' }),
        })
      }
    >
      {t.end}
    </Button>
  );
}

function nameOf({ userAgent }: Session): string {
  const { program, system } = deviceOf(userAgent);
  return texts.value.deviceName(program, system);
}
