/** Sources whose addresses are settings, by what people call them. Everybody sees what they show. */
export const settingsSources = {
  ted: 'TED',
  oeffentlichevergabe: 'Bekanntmachungsservice des Bundes',
  bund: 'service.bund.de',
} as const;
export type SettingsSource = keyof typeof settingsSources;

export const isSettingsSource = (key: string): key is SettingsSource => Object.hasOwn(settingsSources, key);

/** What everybody calls the own alert mailbox. */
export const mailboxKey = 'mailbox';

/** Under which the tenders of an account's alert mailbox are kept: each mailbox is a source of its own, and its owner's alone. */
export const mailboxSource = (userId: string): string => `${mailboxKey}:${userId}`;

export const isMailboxSource = (key: string): boolean => key.startsWith(`${mailboxKey}:`);

/** A source as people name it. */
export const shownSource = (key: string): string => (isMailboxSource(key) ? mailboxKey : key);
