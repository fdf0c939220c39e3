import { parse } from 'bowser';
import type { Tx } from '@portal/db/open';
import { busy, conflict, invalidField, upstream } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { type BugReport, isPng } from '@portal/domain/support/bug-reports';
import { MINUTE, SECOND } from '@portal/domain/time';
import { mailTime } from '@portal/mail/mail-time';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import { bugReport } from '@portal/mail/templates/support/bug-report';
import type { UserContext } from '@portal/platform/context';
import { refundDailyQuota, takeQuotaForOne } from '@portal/platform/outbox/daily-quota';
import { ownServerOf, serviceSettings } from '@portal/platform/outbox/smtp-settings-of';
import { storedSmtpConfig } from '@portal/platform/outbox/stored-smtp-config';
import { consume, giveBack, type Hit, type RateLimit, retryAfter, takeHit } from '@portal/platform/rate-limit';

/** Accepted reports of one account. */
const perAccount: RateLimit = { name: 'bug reports per account', max: 5, windowSec: (10 * MINUTE) / SECOND };
/** All attempts: a mail server that refuses many sign-ins locks the account used for them. */
const triesPerAccount: RateLimit = {
  name: 'tries of bug reports per account',
  max: 30,
  windowSec: perAccount.windowSec,
};

/**
 * Mails a report with its screenshot to the tenant's recipient for bug reports; returns after the mail server has accepted it. It bypasses
 * the outbox: the user learns whether the report has arrived, and the portal stores no pictures of screens. Throws 400 `NOT_A_PNG`, 409
 * `NO_RECIPIENT`, 429 beyond five accepted reports in ten minutes, 409 `LIMIT_REACHED` if the tenant's daily quota for the service's own
 * server is used up, 502 `MAIL_DELIVERY_FAILED` with a plain reason.
 */
export async function sendBugReport(ctx: UserContext, report: BugReport, screenshot: Uint8Array): Promise<void> {
  if (!isPng(screenshot)) throw invalidField('screenshot', 'must be a PNG picture', 'NOT_A_PNG');
  const recipient = (await ctx.read(storedSmtpConfig))?.bugReportRecipient ?? null;
  if (recipient === null) throw conflict('NO_RECIPIENT');
  const hit = await countReport(ctx);
  try {
    await sendTo(recipient, ctx, report, screenshot);
  } catch (error) {
    await undo(ctx, (tx) => giveBack(tx, hit));
    throw error;
  }
}

/** Counts the report before it is sent, so that concurrent reports cannot exceed the limit. */
const countReport = (ctx: UserContext): Promise<Hit> =>
  ctx.tx(async (tx) => {
    const id = ctx.actor.id;
    const hit = await takeHit(tx, perAccount, id);
    if (hit && (await consume(tx, triesPerAccount, id))) return hit;
    const waitSec = await retryAfter(tx, hit ? triesPerAccount : perAccount, id);
    throw busy(
      'You have sent several reports within a few minutes. Please wait before you send another.',
      waitSec ?? 1,
    );
  });

/** Undoes the count of a report that was not sent. Only logs a failure, so that the caller gets the reason why sending failed. */
async function undo(ctx: UserContext, work: (tx: Tx) => Promise<void>): Promise<void> {
  await ctx
    .tx(work)
    .catch((err: unknown) =>
      ctx.log.warn({ err, requestId: ctx.requestId }, 'could not undo the count of a bug report'),
    );
}

async function sendTo(recipient: string, ctx: UserContext, report: BugReport, screenshot: Uint8Array): Promise<void> {
  const own = await ownServerOf(ctx);
  const settings = own ? own.settings() : serviceSettings(ctx.config);
  if (!settings)
    throw upstream(
      'MAIL_DELIVERY_FAILED',
      'There is no mail server to send the report with: neither your organization nor the service has one.',
    );
  // An administrator chooses the recipient, so over the service's own server each report counts like any other mail.
  const countedOn = own ? null : await takeQuotaForOne(ctx);
  const { account, config, userAgent } = ctx;
  const { version, channel, commit } = config.release;
  const mail = bugReport.render({
    tenantName: account.tenantName,
    serviceUrl: config.http.publicUrl,
    title: report.title,
    description: report.description,
    origin: reportOrigin(report, userAgent),
    architecture: report.originArch || null,
    userAgent,
    displayName: account.displayName ?? account.username,
    username: account.username,
    address: account.email,
    release: `${version} (${channel}, ${commit})`,
    reportedAt: mailTime(ctx.now()),
  });
  // Imported on demand: it takes 0.1 s and 10 MB.
  const { interactiveLimits, openTransport } = await import('@portal/mail/transport');
  const transport = openTransport(settings, interactiveLimits);
  try {
    await transport.send({
      ...mail,
      to: { address: recipient },
      messageId: messageIdFor(`support/bug-report/${newId()}`, mailDomain(settings.fromAddress)),
      attachments: [{ fileName: 'screenshot.png', contentType: 'image/png', bytes: screenshot }],
    });
  } catch (error) {
    if (countedOn !== null) await undo(ctx, (tx) => refundDailyQuota(tx, [countedOn]));
    throw error;
  } finally {
    transport.close();
  }
}

// Browsers send less than half of this; parsing longer texts would only cost time.
const maxUserAgent = 512;

/** The origin of a report, one word each: `Desktop 1.4.2 windows`, or from the user agent `Web Chrome 142 Windows`. */
function reportOrigin({ originKind, originVersion, originPlatform }: BugReport, userAgent: string | null): string[] {
  const { browser, system } = readUserAgent(userAgent);
  // The user agent inside a desktop app names the embedded browser, not the app.
  const [kind, usual] = originKind === 'desktop' ? ['Desktop', ''] : ['Web', browser];
  return [kind, originVersion || usual, originPlatform || system].filter((word) => word !== '');
}

function readUserAgent(userAgent: string | null): { browser: string; system: string } {
  if (!userAgent) return { browser: '', system: '' };
  const { browser, os } = parse(userAgent.slice(0, maxUserAgent));
  const major = browser.version?.split('.')[0] ?? '';
  return { browser: [browser.name ?? '', major].filter((word) => word !== '').join(' '), system: os.name ?? '' };
}
