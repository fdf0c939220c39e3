import type { PortalError } from '@portal/client/portal-error';
import { ErrorTrace } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { deliveryFailure } from './delivery-failure.ts';
import { texts } from './texts.ts';

/** Why a mail was not sent: the class of the failure, what to do, and the server's own words. */
export function DeliveryFailed({ error, reason }: { error?: PortalError | undefined; reason?: string | undefined }) {
  const t = texts.value;
  const { kind, text, answer } = deliveryFailure(error?.message ?? reason ?? '');
  return (
    <>
      <Status kind={kind === 'temporary' ? 'warning' : 'error'}>
        <strong>{t.failures[kind]}</strong>
      </Status>
      <p>{text}</p>
      {answer !== null && (
        <p>
          {t.answer} <code>{answer}</code>
        </p>
      )}
      {error && <ErrorTrace error={error} />}
    </>
  );
}
