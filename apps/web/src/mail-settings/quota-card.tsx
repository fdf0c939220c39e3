import type { SmtpConfig } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { formatNumber } from '../language.ts';
import { Card } from '../ui/page.tsx';
import { Progress } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { texts } from './texts.ts';

/** How many mails of today's quota are used. */
export function QuotaCard({ config: { host, dailyLimit, sentToday, heldBackToday } }: { config: SmtpConfig }) {
  const t = texts.value;
  return (
    <Card title={t.quota}>
      <Progress
        label={t.quotaOf(formatNumber(sentToday), formatNumber(dailyLimit))}
        value={Math.min(sentToday, dailyLimit)}
        max={dailyLimit}
      />
      {host === null && sentToday >= dailyLimit && <Status kind="error">{t.quotaReached}</Status>}
      {heldBackToday > 0 && (
        <Status kind="warning">
          {t.heldBack(heldBackToday, formatNumber(heldBackToday))} {t.heldBackHint}
        </Status>
      )}
      <p class={profile.note}>{host === null ? t.quotaHint : t.quotaOwn}</p>
    </Card>
  );
}
