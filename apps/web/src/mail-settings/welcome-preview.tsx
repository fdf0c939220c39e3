import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { Send } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { FailedState, Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { DeliveryFailed } from './delivery-failed.tsx';
import s from './mail-settings.module.css';
import type { WelcomeDraft } from './welcome-mail-editor.tsx';
import { texts } from './welcome-texts.ts';

const pauseMs = 400;

/** The mail that these texts make, a moment after the last change. */
export function useWelcomePreview(draft: WelcomeDraft) {
  const settled = useSettled(draft, pauseMs);
  return useQuery({
    queryKey: ['mail-settings', 'welcome-preview', settled],
    queryFn: ({ signal }) => portal.post('/welcome-mail/template/preview', { body: settled, signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

function useSettled<Value>(value: Value, afterMs: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface Props {
  draft: WelcomeDraft;
  preview: ReturnType<typeof useWelcomePreview>;
}

/** Shows the mail as text: the content security policy of the page does not admit its design. Sends it for a look at that. */
export function WelcomePreview({ draft, preview }: Props) {
  const t = texts.value;
  const { data, error } = preview;
  const isRefused = error instanceof PortalError && error.status === 400;
  return (
    <div class={s.beside}>
      <Card title={t.preview}>
        <p class={profile.note}>{t.previewHint}</p>
        {data && (
          <div class={s.mail} aria-busy={preview.isPlaceholderData}>
            <strong dir="auto">{data.subject}</strong>
            <div dir="auto">{data.text}</div>
          </div>
        )}
        {!data && !error && <Skeleton lines={6} />}
        {isRefused && <Status kind="warning">{t.noPreview}</Status>}
        {error && !isRefused && <FailedState error={error} onRetry={() => void preview.refetch()} />}
        <TestMail draft={draft} />
      </Card>
    </div>
  );
}

function TestMail({ draft }: { draft: WelcomeDraft }) {
  const t = texts.value;
  const test = useMutation({
    mutationFn: (body: WelcomeDraft) => portal.post('/welcome-mail/template/test', { body }),
  });
  const { data } = test;
  return (
    <>
      <Form
        label={t.sendTest}
        onSubmit={() => test.mutateAsync(draft)}
        error={test.error}
        actions={
          <Button type="submit" icon={Send} busy={test.isPending}>
            {t.sendTest}
          </Button>
        }
      >
        <p class={profile.note}>{t.testHint}</p>
      </Form>
      <div role="status">
        {data?.sent && <Status kind="ok">{t.sent(me.value?.email ?? '')}</Status>}
        {data?.sent === false && <DeliveryFailed reason={data.reason} />}
      </div>
    </>
  );
}
