import type { Headers } from './template.ts';

/**
 * Shows mails that name the same thread as one conversation. A thread is a Message-ID as `messageIdFor` makes them, of a mail that
 * need not exist: mailboxes put together what refers to the same one.
 */
export const inThread: Headers<{ thread: string }> = { References: ({ thread }) => thread };
