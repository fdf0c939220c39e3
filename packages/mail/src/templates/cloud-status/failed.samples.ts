import { mailTime } from '../../mail-time.ts';
import { messageIdFor } from '../../message-id.ts';
import { edgeCase, person, samplesOf, sender, summerDay } from '../samples.ts';
import { cloudFailed } from './failed.ts';

const outage = {
  customerName: 'Stadtwerke Nordheim',
  address: 'https://cloud.nordheim.example/nextcloud',
  failure: 'server' as const,
  since: mailTime(summerDay),
};
const thread = messageIdFor('an outage', 'portal.example');

export const samples = samplesOf(cloudFailed, {
  one: { ...sender, thread, displayName: person.displayName, outages: [outage] },
  many: {
    ...sender,
    thread,
    displayName: person.displayName,
    outages: Array.from({ length: 25 }, (_, n) => ({
      ...outage,
      customerName: `Kunde ${n + 1}`,
      address: `https://cloud${n + 1}.example`,
      failure: 'netz' as const,
    })),
  },
  edgeCase: {
    ...sender,
    thread,
    displayName: edgeCase.displayName,
    outages: [
      { ...outage, customerName: edgeCase.displayName, address: `https://${'a'.repeat(30)}.example/?a=1&b=<b>` },
    ],
  },
});
