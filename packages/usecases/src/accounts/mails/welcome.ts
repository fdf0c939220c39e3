import { inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { users } from '@portal/db/schema/accounts/users';
import { signInPage } from '@portal/domain/accounts/sign-in-page';
import { WelcomeMailTemplate, welcomeMailValues } from '@portal/domain/mail-settings/welcome-mail';
import { mailTime } from '@portal/mail/mail-time';
import { welcome as template } from '@portal/mail/templates/accounts/welcome';
import { defineMail } from '@portal/platform/outbox/mail';
import { welcomeTemplateOf } from '../../mail-settings/welcome-mail-template.ts';
import { issueLink, passwordLink } from '../links.ts';

/** With `test` the mail tests that template: it links to the sign-in page and never contains a token. */
const Data = z.object({ test: WelcomeMailTemplate.optional() });

export const welcomeMail = defineMail({
  kind: 'accounts/welcome',
  template,
  data: Data,
  isAwaited: true,
  async prepare(ctx, mail, { test }) {
    const { recipient } = mail;
    const serviceUrl = ctx.config.http.publicUrl;
    const common = {
      tenantName: recipient.tenantName,
      serviceUrl,
      values: welcomeMailValues(
        { ...recipient, email: recipient.address },
        { adresse: serviceUrl, firma: recipient.tenantName },
      ),
    };
    const source = recipient.isLocal ? ('local' as const) : ('directory' as const);
    if (test)
      return { ...common, template: test, invitation: { kind: 'test' as const, link: signInPage(serviceUrl), source } };
    const template = await ctx.read(welcomeTemplateOf);
    if (!recipient.isLocal)
      return { ...common, template, invitation: { kind: 'sign-in' as const, link: signInPage(serviceUrl) } };
    const { token, expiresAt } = await ctx.tx((tx) =>
      issueLink(tx, {
        tenantId: ctx.tenantId,
        userId: recipient.id,
        purpose: 'welcome',
        email: recipient.address,
        mailId: mail.id,
        overTenantServer: mail.route === 'tenant',
      }),
    );
    return {
      ...common,
      template,
      invitation: {
        kind: 'set-password' as const,
        link: passwordLink(serviceUrl, token),
        validUntil: mailTime(expiresAt),
      },
    };
  },
  async remember(tx, attempts) {
    const welcomed = attempts.filter(({ data, outcome }) => !data.test && outcome === 'sent');
    if (welcomed.length === 0) return;
    const ids = welcomed.map(({ userId }) => userId);
    await tx
      .update(users)
      .set({ welcomeMailSentAt: sql`now()` })
      .where(inArray(users.id, ids));
  },
});
