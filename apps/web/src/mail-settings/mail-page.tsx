import { useQuery } from '@tanstack/preact-query';
import { portal } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { mailKey, MailSettings } from './mail-form.tsx';

/** Through which server the mails of the organization leave, and whether that works. */
export function MailPage() {
  const config = useQuery({ queryKey: mailKey, queryFn: ({ signal }) => portal.get('/smtp-config', { signal }) });
  return (
    <Page title={pageNames.value.mail}>
      <QueryView query={config}>{(row) => <MailSettings config={row} />}</QueryView>
    </Page>
  );
}
