import { expect, it } from 'vitest';
import { mailDomain, messageIdFor } from './message-id.ts';

it('is the same for the same mail and different for another', () => {
  const id = messageIdFor('accounts/welcome:7', 'example.com');
  expect(id).toMatch(/^<[0-9a-f]{64}@example\.com>$/);
  expect(messageIdFor('accounts/welcome:7', 'example.com')).toBe(id);
  expect(messageIdFor('accounts/welcome:8', 'example.com')).not.toBe(id);
});

it('is ASCII for every domain', () => {
  expect(messageIdFor('k', mailDomain('portal@Müller.example'))).toMatch(/@xn--mller-kva\.example>$/);
  expect(messageIdFor('k', 'not a domain\r\nBcc: x')).toMatch(/@portal\.invalid>$/);
});
