import { useQuery } from '@tanstack/preact-query';
import type { TenderNotificationPreference } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { savedSearchesQuery } from '../dashboards/widgets/saved-searches-query.ts';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { formatDay, formatTime } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { me } from '../session.ts';
import { RadioGroup } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { nextDigestAt, type Rhythm } from './digest-times.ts';
import { texts } from './sources-texts.ts';

const queryKey = ['tenders', 'notification-preference'] as const;

/** How often new matches of the saved searches come by mail, and when next. A choice counts at once. */
export function DigestCard() {
  const t = texts.value;
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => portal.get('/tenders/notification-preference', { signal }),
  });
  return (
    <Card title={t.digest}>
      <QueryView query={query}>{(preference) => <Choice preference={preference} />}</QueryView>
    </Card>
  );
}

function Choice({ preference }: { preference: TenderNotificationPreference }) {
  const t = texts.value;
  const save = useMutation({
    mutationFn: (digest: Rhythm) => portal.put('/tenders/notification-preference', { body: { digest } }),
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved);
      showToast(t.digestSaved, { kind: 'success' });
    },
  });
  const digest = save.isPending ? save.variables : preference.digest;
  return (
    <Form label={t.digest} onSubmit={() => undefined} error={save.error}>
      <p class={profile.note}>{t.digestHint}</p>
      <RadioGroup
        legend={t.rhythm}
        name="digest"
        value={digest}
        onChange={(wanted) => save.mutate(wanted)}
        options={rhythms.map((value) => ({ value, label: t.rhythms[value] }))}
      />
      <NextDigest digest={digest} />
    </Form>
  );
}

const rhythms = ['daily', 'weekly', 'off'] as const;

/** When the next one goes out and where to, or what is missing. */
function NextDigest({ digest }: { digest: Rhythm }) {
  const t = texts.value;
  const now = useNow(60_000);
  const searches = useQuery(savedSearchesQuery);
  const email = me.value?.email ?? null;
  if (digest === 'off') return <p>{t.digestOff}</p>;
  if (email === null)
    return (
      <Status kind="warning">
        {t.noAddress} <a href="/app/me">{t.toProfile}</a>
      </Status>
    );
  if (searches.data?.length === 0)
    return (
      <Status kind="info">
        {t.noSearches} <a href="/app/tenders">{t.toSearch}</a>
      </Status>
    );
  const at = nextDigestAt(digest, now);
  return <p aria-live="polite">{t.next(formatDay(at), formatTime(at), email)}</p>;
}
