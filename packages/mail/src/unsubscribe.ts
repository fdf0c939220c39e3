import type { Headers } from './template.ts';

/**
 * Headers that let a mail client offer one-click unsubscribe (RFC 8058). The link works without signing in: the mail client sends a POST
 * to it, a reader opens it.
 */
export const oneClickUnsubscribe: Headers<{ unsubscribeUrl: string }> = {
  // `href` escapes characters that could end the brackets.
  'List-Unsubscribe': ({ unsubscribeUrl }) => `<${new URL(unsubscribeUrl).href}>`,
  'List-Unsubscribe-Post': () => 'List-Unsubscribe=One-Click',
};
