import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';

/** The part after the last `@`. */
export const mailDomain = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/**
 * The Message-ID of the mail with this key. The same key always gives the same Message-ID, so that a mailbox recognises a repeat. The
 * Message-ID does not reveal the key.
 */
export const messageIdFor = (key: string, domain: string): string => {
  const digest = createHash('sha256').update(key).digest('hex');
  return `<${digest}@${domainToASCII(domain) || 'portal.invalid'}>`;
};
