import { p } from '../../blocks.ts';
import { countOf, endOfMails, tenderBlocks, TenderMail } from '../../listed-tenders.ts';
import { template } from '../../template.ts';
import { oneClickUnsubscribe } from '../../unsubscribe.ts';

/** The tenders that an account’s saved searches have found since the last digest, and changes of known tenders. */
export const tenderDigest = template({
  format: 'html-and-text',
  data: TenderMail,
  headers: oneClickUnsubscribe,
  wording: {
    de: {
      subject: ({ total, totalChanges }) =>
        total > 0
          ? countOf(total)
          : totalChanges === 1
            ? '1 Ausschreibung geändert'
            : `${totalChanges} Ausschreibungen geändert`,
      preview: ({ tenders, changes }) =>
        [...tenders, ...changes]
          .map(({ title }) => title)
          .slice(0, 5)
          .join(' · '),
      heading: () => 'Ihre Ausschreibungen',
      body: (mail) => [
        p`Hallo ${mail.displayName},`,
        ...(mail.total > 0 ? [p`Ihre gespeicherten Suchen haben ${countOf(mail.total)} gefunden.`] : []),
        ...tenderBlocks(mail),
        ...endOfMails(mail.unsubscribeUrl),
      ],
    },
  },
});
