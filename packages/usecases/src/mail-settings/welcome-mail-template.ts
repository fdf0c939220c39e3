import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { welcomeMailTemplates } from '@portal/db/schema/mail-settings';
import { signInPage } from '@portal/domain/accounts/sign-in-page';
import { invalid } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import {
  builtInWelcomeMail,
  findUnknownPlaceholders,
  sampleWelcomePerson,
  type WelcomeMailTemplate,
  welcomeMailValues,
} from '@portal/domain/mail-settings/welcome-mail';
import { mailTime } from '@portal/mail/mail-time';
import { welcome } from '@portal/mail/templates/accounts/welcome';
import type { UserContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';

/** The current tenant's texts, or the built-in ones. */
export const welcomeTemplateOf = async (db: Pick<Tx, 'select'>): Promise<WelcomeMailTemplate> => {
  const [own] = await db
    .select({
      subject: welcomeMailTemplates.subject,
      heading: welcomeMailTemplates.heading,
      intro: welcomeMailTemplates.intro,
      closing: welcomeMailTemplates.closing,
      loginHintDirectory: welcomeMailTemplates.loginHintDirectory,
      loginHintLocal: welcomeMailTemplates.loginHintLocal,
    })
    .from(welcomeMailTemplates);
  return own ?? builtInWelcomeMail;
};

export const getWelcomeTemplate = (ctx: UserContext): Promise<WelcomeMailTemplate> => ctx.read(welcomeTemplateOf);

/** Replaces the tenant's texts. Throws 400 `UNKNOWN_PLACEHOLDER` that names each unknown placeholder. */
export async function putWelcomeTemplate(
  ctx: UserContext,
  template: WelcomeMailTemplate,
): Promise<WelcomeMailTemplate> {
  checkPlaceholders(template);
  await ctx.tx(async (tx) => {
    const values = { ...template, updatedAt: sql`now()` };
    await tx
      .insert(welcomeMailTemplates)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: welcomeMailTemplates.tenantId, set: values });
    await recordAudit(tx, ctx, {
      action: 'welcome_mail.update',
      tenantId: ctx.tenantId,
      summary: 'Changed the texts of the welcome mail.',
    });
  });
  return template;
}

/** Restores the built-in texts. */
export async function deleteWelcomeTemplate(ctx: UserContext): Promise<void> {
  await ctx.tx(async (tx) => {
    const deleted = await tx.delete(welcomeMailTemplates).returning({ id: welcomeMailTemplates.id });
    if (deleted.length === 0) return;
    await recordAudit(tx, ctx, {
      action: 'welcome_mail.delete',
      tenantId: ctx.tenantId,
      summary: 'Restored the built-in welcome mail.',
    });
  });
}

/** The mail for a sample person with a local account; its link leads to the sign-in page. */
export function previewWelcomeMail(
  ctx: UserContext,
  template: WelcomeMailTemplate,
): { subject: string; html: string; text: string } {
  checkPlaceholders(template);
  const serviceUrl = ctx.config.http.publicUrl;
  const { subject, html, text } = welcome.render({
    tenantName: ctx.account.tenantName,
    serviceUrl,
    template,
    values: welcomeMailValues(sampleWelcomePerson, { adresse: serviceUrl, firma: ctx.account.tenantName }),
    invitation: {
      kind: 'set-password',
      link: signInPage(serviceUrl),
      validUntil: mailTime(new Date(ctx.now().getTime() + 7 * 24 * 60 * 60 * 1_000)),
    },
  });
  return { subject, html: html ?? '', text };
}

export function checkPlaceholders(template: WelcomeMailTemplate): void {
  const unknown = findUnknownPlaceholders(template);
  if (unknown.length === 0) return;
  const names = [...new Set(unknown.map(({ name }) => `{{${name}}}`))].join(', ');
  throw invalid('UNKNOWN_PLACEHOLDER', `These placeholders do not exist: ${names}.`, {
    details: unknown.map(({ field, name }) => ({ path: field, message: `{{${name}}} is not a placeholder` })),
  });
}
