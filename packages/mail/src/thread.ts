import type { Headers } from './template.ts';

/**
 * Groups mails with the same thread into one conversation. The thread is a Message-ID from `messageIdFor`; no mail with this ID needs to
 * exist, because mail clients group all mails that refer to the same ID.
 */
export const inThread: Headers<{ thread: string }> = { References: ({ thread }) => thread };
