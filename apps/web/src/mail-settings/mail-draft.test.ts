import { describe, expect, it } from 'vitest';
import { bodyOf, draftOf, withSecurity } from './mail-draft.ts';

const unset = {
  host: null,
  port: null,
  security: null,
  username: null,
  hasPassword: false,
  fromAddress: null,
  fromName: null,
  replyTo: null,
  verifyTls: null,
  bugReportRecipient: null,
  dailyLimit: 2_000,
  sentToday: 0,
  heldBackToday: 0,
};
const own = draftOf({ ...unset, host: 'mail.example.org', port: 587, security: 'starttls', username: 'portal' });

describe('the settings of an own mail server', () => {
  it('begin with the usual port, which follows the encryption', () => {
    expect(draftOf(unset)).toMatchObject({ sender: 'service', port: '587', security: 'starttls', verifyTls: true });
    expect(withSecurity(own, 'tls')).toEqual({ security: 'tls', port: '465' });
    expect(withSecurity({ ...own, port: '2525' }, 'tls')).toEqual({ security: 'tls', port: '2525' });
  });

  it('keep the password only as long as there is a username', () => {
    expect(bodyOf(own)).toMatchObject({ host: 'mail.example.org', port: 587, password: '' });
    expect(bodyOf({ ...own, username: ' ' })).toMatchObject({ password: null });
  });

  it('leave nothing but the recipient of bug reports when they go', () => {
    const body = bodyOf({ ...own, sender: 'service', bugReportRecipient: 'it@example.org' });
    expect(body).toMatchObject({ host: null, port: null, password: null, bugReportRecipient: 'it@example.org' });
  });

  it('without a port are sent so that the service names it', () => {
    expect(bodyOf({ ...own, port: '' })).toMatchObject({ port: null });
  });
});
