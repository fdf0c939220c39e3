import { describe, expect, it } from 'vitest';
import { hostForm } from './host.ts';

describe('a host', () => {
  it.each(['mail.example.org', 'mail', '_smtp.example.org', '127.0.0.1', '::1', '2001:db8::25', '::ffff:127.0.0.1'])(
    '%s passes',
    (host) => {
      expect(hostForm.test(host)).toBe(true);
    },
  );

  it.each([
    '',
    'mail.example.org:587',
    '127.0.0.1:25',
    'smtp://mail.example.org',
    '[::1]',
    'a b',
    'mail.example.org/x',
    'g::1',
  ])('%j is refused', (host) => {
    expect(hostForm.test(host)).toBe(false);
  });
});
