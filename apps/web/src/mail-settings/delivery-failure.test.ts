import { afterEach, describe, expect, it } from 'vitest';
import { language } from '../language.ts';
import { deliveryFailure } from './delivery-failure.ts';

const server = 'The mail server mail.example.org:587';

describe('the reason for a mail that was not sent', () => {
  const before = language.value;
  afterEach(() => {
    language.value = before;
  });

  it.each([
    ['connect', 'accepts no connections; check host and port.'],
    ['timeout', 'did not answer in time. Port 465 usually wants TLS.'],
    ['certificate', 'shows a certificate that is self-signed.'],
    ['auth', 'did not accept the user name or password. The server answered: "535 5.7.8 Error"'],
    ['recipient', 'does not accept mail for this recipient.'],
    ['rejected', 'does not accept this sender address.'],
    ['temporary', 'cannot take the mail right now.'],
    ['protocol', 'does not offer STARTTLS; choose TLS or another port.'],
  ] as const)('is of the class %s', (kind, about) => {
    language.value = 'de';
    const failure = deliveryFailure(`${server} ${about}`);
    expect(failure.kind).toBe(kind);
    expect(failure.text).toContain('mail.example.org:587');
    expect(failure.text).not.toMatch(/\$1|mail server/);
  });

  it('keeps the answer of the server apart', () => {
    language.value = 'en';
    expect(deliveryFailure(`${server} refused the message. The server answered: "554 Say "please""`)).toEqual({
      kind: 'rejected',
      text: `${server} refused the message.`,
      answer: '554 Say "please"',
    });
  });

  it('that is not known is passed on', () => {
    language.value = 'de';
    expect(deliveryFailure('The moon is full.')).toEqual({
      kind: 'other',
      text: 'Meldung des Portals: „The moon is full.“',
      answer: null,
    });
  });
});
