/** The sixteen Länder by the suffix of ISO 3166-2:DE. */
export const laender = [
  'BW',
  'BY',
  'BE',
  'BB',
  'HB',
  'HH',
  'HE',
  'MV',
  'NI',
  'NW',
  'RP',
  'SL',
  'SN',
  'ST',
  'SH',
  'TH',
] as const;
export type Land = (typeof laender)[number];
