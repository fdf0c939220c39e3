import { z } from 'zod';
import type { Language } from '@portal/mail/frame';
import { mailTime } from '@portal/mail/mail-time';
import type { PreparedMail } from '@portal/platform/outbox/mail';

const Data = z.object({ language: z.enum(['de', 'en']).default('de'), address: z.string() });

/** What mails share that tell the old address of a change, whatever the account's is by then. */
export const toOldAddress = {
  data: Data,
  isAwaited: true,
  addressOf: ({ address }: z.output<typeof Data>) => address,
};

/** What such a mail says, and when it was promised. */
export const factsOf = ({ createdAt, recipient }: PreparedMail, language: Language) => ({
  language,
  tenantName: recipient.tenantName,
  username: recipient.username,
  at: mailTime(createdAt, language),
});
