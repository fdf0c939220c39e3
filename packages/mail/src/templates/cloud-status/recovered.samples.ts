import { mailDuration } from '../../mail-duration.ts';
import { mailTime } from '../../mail-time.ts';
import { messageIdFor } from '../../message-id.ts';
import { edgeCase, person, samplesOf, sender, summerDay } from '../samples.ts';
import { cloudRecovered } from './recovered.ts';

const outage = {
  customerName: 'Stadtwerke Nordheim',
  address: 'https://cloud.nordheim.example/nextcloud',
  from: mailTime(summerDay),
  to: mailTime(new Date(summerDay.getTime() + 7_500_000)),
  duration: mailDuration(7_500_000),
};
const thread = messageIdFor('an outage', 'portal.example');

export const samples = samplesOf(cloudRecovered, {
  plain: { ...sender, thread, displayName: person.displayName, ...outage },
  edgeCase: { ...sender, thread, ...outage, displayName: edgeCase.displayName, customerName: edgeCase.displayName },
});
