import { p } from '../../blocks.ts';
import { countOf, endOfMails, tenderBlocks, TenderMail } from '../../listed-tenders.ts';
import { template } from '../../template.ts';
import { oneClickUnsubscribe } from '../../unsubscribe.ts';

/** The new tenders that one saved search has found. */
export const instantTenders = template({
  format: 'html-and-text',
  data: TenderMail,
  headers: oneClickUnsubscribe,
  wording: {
    de: {
      subject: ({ tenders, total }) => `${tenders[0]?.search ?? ''}: ${countOf(total)}`,
      preview: ({ tenders }) =>
        tenders
          .map(({ title }) => title)
          .slice(0, 5)
          .join(' · '),
      heading: ({ total }) => countOf(total),
      body: (mail) => [p`Hallo ${mail.displayName},`, ...tenderBlocks(mail), ...endOfMails(mail.unsubscribeUrl)],
    },
  },
});
