import { nutsRegions } from './nuts-regions.ts';

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

/** A place of performance or the seat of a buyer, as the source states it. */
export interface Place {
  nuts: string | null;
  postcode: string | null;
  city: string | null;
  /** As written, `DEU` or `DE`; null if the source does not state it. */
  country: string | null;
  /** `anyw`, `anyw-eea`, `anyw-cou` (BT-727). */
  anywhere: string | null;
}

export interface LandFinding {
  bundeslaender: Land[];
  source: 'nuts' | 'name' | 'postcode' | 'city' | 'buyer' | null;
  isNationwide: boolean;
}

/** The Land of a NUTS code, by its first three characters: old notices name districts that no longer exist. Extra-Regio has no Land. */
export const landOfNuts = (nuts: string): Land | null =>
  nuts.startsWith('DE') ? (landOfNuts1[nuts[2] ?? ''] ?? null) : null;

const landOfNuts1: Record<string, Land> = {
  1: 'BW',
  2: 'BY',
  3: 'BE',
  4: 'BB',
  5: 'HB',
  6: 'HH',
  7: 'HE',
  8: 'MV',
  9: 'NI',
  A: 'NW',
  B: 'RP',
  C: 'SL',
  D: 'SN',
  E: 'ST',
  F: 'SH',
  G: 'TH',
};

/** The Länder of the places, from the first of these that gives a result: NUTS codes, names, postcodes, towns, the region of the buyer. */
export function findLaender(places: readonly Place[], buyer: Place | null): LandFinding {
  const german = places.filter(isGerman);
  const isElsewhere = places.length > 0 && german.length === 0;
  const steps: [LandFinding['source'], (Land | null)[]][] = [
    ['nuts', german.map(({ nuts }) => landOfNuts(nuts ?? ''))],
    ['name', german.flatMap(({ city }) => landsNamedIn(city ?? ''))],
    ['postcode', german.map(({ postcode, city }) => landOfPostcode(postcode ?? city ?? ''))],
    ['city', german.map(({ city }) => landOfTown(city ?? ''))],
  ];
  for (const [source, found] of steps) {
    const bundeslaender = [...new Set(found.filter((land) => land !== null))];
    if (bundeslaender.length > 0) return { bundeslaender, source, isNationwide: false };
  }
  const isNationwide = places.some(isWholeCountry);
  const land = isElsewhere || isNationwide ? null : landOfNuts(buyer?.nuts ?? '');
  return { bundeslaender: land ? [land] : [], source: land ? 'buyer' : null, isNationwide };
}

const isGerman = ({ country, nuts, anywhere }: Place): boolean =>
  nuts !== null ? nuts.startsWith('DE') : country === null ? anywhere === null : /^(DE|DEU)$/.test(country);

/** Work that can be done anywhere can be done in every Land. */
const isWholeCountry = (place: Place): boolean => {
  if (place.anywhere === 'anyw' || place.anywhere === 'anyw-eea') return true;
  if (!isGerman(place)) return false;
  if (/\bbundesweit\b|\bdeutschlandweit\b|^deutschland$/i.test(place.city ?? '')) return true;
  const isNarrower = place.city !== null || place.postcode !== null || (place.nuts !== null && place.nuts !== 'DE');
  return place.anywhere === 'anyw-cou' || (!isNarrower && (place.nuts === 'DE' || place.country !== null));
};

/** Names and common variants, the longest first: "Sachsen-Anhalt" is not Sachsen. */
const names: [name: string, land: Land][] = (
  [
    ['BW', 'Baden-Württemberg|Baden-Wuerttemberg|Baden Württemberg|BaWü|Ba-Wü'],
    ['BY', 'Bayern|Bavaria'],
    ['BE', 'Berlin'],
    ['BB', 'Brandenburg'],
    ['HB', 'Bremen|Bremerhaven'],
    ['HH', 'Hamburg'],
    ['HE', 'Hessen|Hesse'],
    ['MV', 'Mecklenburg-Vorpommern|Mecklenburg Vorpommern|MeckPomm|Meck-Pomm|M-V'],
    ['NI', 'Niedersachsen|Nds.|Lower Saxony'],
    ['NW', 'Nordrhein-Westfalen|Nordrhein Westfalen|NRW'],
    ['RP', 'Rheinland-Pfalz|Rheinland Pfalz|RLP'],
    ['SL', 'Saarland'],
    ['SN', 'Sachsen|Saxony'],
    ['ST', 'Sachsen-Anhalt|Sachsen Anhalt|Saxony-Anhalt|LSA'],
    ['SH', 'Schleswig-Holstein|Schleswig Holstein|S-H'],
    ['TH', 'Thüringen|Thueringen|Thuringia'],
  ] as [Land, string][]
)
  .flatMap(([land, list]) => list.split('|').map((name): [string, Land] => [name, land]))
  .toSorted(([a], [b]) => b.length - a.length);

const landOfName = new Map(names.map(([name, land]) => [name.toLowerCase(), land]));
// No match next to a hyphen or inside a word: "Brandenburg-Kirchmöser" is not a Land, nor is the Sachsen in "Niedersachsen".
const anyName = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:${names.map(([name]) => RegExp.escape(name)).join('|')})(?![\\p{L}\\p{N}-])`,
  'giu',
);

/** Every Land a text names. */
export const landsNamedIn = (text: string): Land[] => [
  ...new Set([...text.slice(0, 1_000).matchAll(anyName)].flatMap(([name]) => landOfName.get(name.toLowerCase()) ?? [])),
];

/** By the first two digits. Leads whose area crosses a border are left out: no Land is better than a wrong one. */
const postcodes: [leads: string, land: Land][] = [
  ['01 02 04 08 09', 'SN'],
  ['03 14 15 16', 'BB'],
  ['06 39', 'ST'],
  ['07 98 99', 'TH'],
  ['10 11 12 13', 'BE'],
  ['17 18 19', 'MV'],
  ['23 24 25', 'SH'],
  ['26 27 29 30 31 37 38', 'NI'],
  ['28', 'HB'],
  ['32 33 40 41 42 44 45 46 47 48 50 51 52 53 58 59', 'NW'],
  ['34 35 36 60 61 62 63 64 65', 'HE'],
  ['54 55 56 67', 'RP'],
  ['66', 'SL'],
  ['68 69 70 71 72 73 74 75 76 77 78 79', 'BW'],
  ['80 81 82 83 84 85 86 87 90 91 92 93 94 95 96 97', 'BY'],
];
const landOfLead = new Map(postcodes.flatMap(([leads, land]) => leads.split(' ').map((lead) => [lead, land])));

/** Approximately: the Land of the first postcode in a text. */
export const landOfPostcode = (text: string): Land | null =>
  landOfLead.get(/(?<!\d)(\d{2})\d{3}(?!\d)/.exec(text)?.[1] ?? '') ?? null;

/** Land by name of town or district; null if the name occurs in several Länder. */
const landOfTownName = new Map<string, Land | null>();
for (const [code, label] of nutsRegions) {
  const land = landOfNuts(code);
  const town = townIn(label);
  if (code.length === 5)
    landOfTownName.set(town, landOfTownName.has(town) && landOfTownName.get(town) !== land ? null : land);
}

const landOfTown = (city: string): Land | null => landOfTownName.get(townIn(city.replace(/^\s*\d{5}\s+/, ''))) ?? null;

/** "München, Landeshauptstadt" is München. */
function townIn(label: string): string {
  return (label.split(',', 1)[0] ?? '').trim().toLowerCase();
}
