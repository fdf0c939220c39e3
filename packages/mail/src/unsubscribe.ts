import type { Headers } from './template.ts';

/**
 * Headers by which a mailbox offers an end to this kind of mail with one click (RFC 8058). The link works without signing in: the
 * mailbox sends a POST to it, a reader opens it.
 */
export const oneClickUnsubscribe: Headers<{ unsubscribeUrl: string }> = {
  // As a URL writes it nothing can end the brackets.
  'List-Unsubscribe': ({ unsubscribeUrl }) => `<${new URL(unsubscribeUrl).href}>`,
  'List-Unsubscribe-Post': () => 'List-Unsubscribe=One-Click',
};
