import { mailTime } from '../../mail-time.ts';
import { samplesOf, sender } from '../samples.ts';
import { smtpTest } from './smtp-test.ts';

const sent = {
  ...sender,
  fromAddress: 'portal@muster.example',
  sentAt: mailTime(new Date('2026-11-21T09:12:00Z')),
};

export const samples = samplesOf(smtpTest, {
  starttls: { ...sent, host: 'mail.muster.example', port: 587, security: 'starttls' },
  unencrypted: { ...sent, host: '10.0.0.25', port: 25, security: 'none' },
});
