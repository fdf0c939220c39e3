import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';

/** The part after the last `@`. */
export const mailDomain = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/**
 * The Message-ID of the mail that `key` is about: the same key always gives the same one, so a mailbox recognises
 * a repeat. The key itself cannot be read from it.
 */
export const messageIdFor = (key: string, domain: string): string => {
  const digest = createHash('sha256').update(key).digest('hex');
  return `<${digest}@${domainToASCII(domain) || 'portal.invalid'}>`;
};
