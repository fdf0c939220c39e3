import { useQuery } from '@tanstack/preact-query';
import { portal } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { LinkButton } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { templateKey, WelcomeMailEditor } from './welcome-mail-editor.tsx';
import { texts } from './welcome-texts.ts';

/** The texts of the mail for new accounts, with a preview beside them. */
export function WelcomeMailPage() {
  const t = texts.value;
  const template = useQuery({
    queryKey: templateKey,
    queryFn: ({ signal }) => portal.get('/welcome-mail/template', { signal }),
  });
  const status = useQuery({
    queryKey: ['mail-settings', 'welcome-status'],
    queryFn: ({ signal }) => portal.get('/users/welcome-mail/status', { signal }),
  });
  const isAvailable = status.data?.available;
  return (
    <Page
      title={pageNames.value.welcomeMail}
      intro={t.intro}
      actions={
        isAvailable === false ? (
          <LinkButton href="/app/admin/mail">{t.toMail}</LinkButton>
        ) : (
          <LinkButton href="/app/admin/users">{t.toUsers}</LinkButton>
        )
      }
    >
      {isAvailable !== undefined && (
        <Status kind={isAvailable ? 'ok' : 'warning'}>{isAvailable ? t.available : t.unavailable}</Status>
      )}
      <QueryView query={template}>{(row) => <WelcomeMailEditor template={row} />}</QueryView>
    </Page>
  );
}
