/** Sources whose addresses are settings, by what people call them. Everybody sees what they show. */
export const settingsSources = {
  ted: 'TED',
  oeffentlichevergabe: 'Bekanntmachungsservice des Bundes',
  bund: 'service.bund.de',
} as const;
export type SettingsSource = keyof typeof settingsSources;

export const isSettingsSource = (key: string): key is SettingsSource => Object.hasOwn(settingsSources, key);
