/** Sources whose addresses are settings, with their display names. Every user sees their tenders. */
export const settingsSources = {
  ted: 'TED',
  oeffentlichevergabe: 'Bekanntmachungsservice des Bundes',
  bund: 'service.bund.de',
} as const;
export type SettingsSource = keyof typeof settingsSources;

export const isSettingsSource = (key: string): key is SettingsSource => Object.hasOwn(settingsSources, key);

/** The key of the own alert mailbox in requests and answers. */
export const mailboxKey = 'mailbox';

/** The stored source key of an account's alert mailbox. Each mailbox is a separate source, visible only to its owner. */
export const mailboxSource = (userId: string): string => `${mailboxKey}:${userId}`;

export const isMailboxSource = (key: string): boolean => key.startsWith(`${mailboxKey}:`);

/** The key of a source in requests and answers. */
export const shownSource = (key: string): string => (isMailboxSource(key) ? mailboxKey : key);
