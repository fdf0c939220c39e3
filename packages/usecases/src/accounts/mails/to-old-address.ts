import { z } from 'zod';
import type { Language } from '@portal/mail/frame';
import { mailTime } from '@portal/mail/mail-time';
import type { PreparedMail } from '@portal/platform/outbox/mail';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** Shared by the mails that go to the old address, even if the account already has another. */
export const toOldAddress = {
  data: Data,
  isAwaited: true,
  addressOf: ({ address }: z.output<typeof Data>) => address,
};

/** The facts in these mails; `at` is when the mail was queued. */
export const factsOf = ({ createdAt, recipient }: PreparedMail, language: Language) => ({
  language,
  tenantName: recipient.tenantName,
  username: recipient.username,
  at: mailTime(createdAt, language),
});
