import { catalogue } from '../language.ts';

const laender = {
  BW: 'Baden-Württemberg',
  BY: 'Bayern',
  BE: 'Berlin',
  BB: 'Brandenburg',
  HB: 'Bremen',
  HH: 'Hamburg',
  HE: 'Hessen',
  MV: 'Mecklenburg-Vorpommern',
  NI: 'Niedersachsen',
  NW: 'Nordrhein-Westfalen',
  RP: 'Rheinland-Pfalz',
  SL: 'Saarland',
  SN: 'Sachsen',
  ST: 'Sachsen-Anhalt',
  SH: 'Schleswig-Holstein',
  TH: 'Thüringen',
};

/** The names of federal states, kinds of notices, kinds of contracts and sources by their keys. */
export const names = catalogue({
  de: {
    laender,
    noticeTypes: {
      competition: 'Ausschreibung',
      planning: 'Vorinformation',
      consultation: 'Markterkundung',
      result: 'Vergebener Auftrag',
      'dir-awa-pre': 'Angekündigte Direktvergabe',
      'cont-modif': 'Vertragsänderung',
      change: 'Berichtigung',
      completion: 'Vertragsende',
    },
    natures: { works: 'Bauleistung', supplies: 'Lieferung', services: 'Dienstleistung' },
    sources: {
      ted: 'TED',
      oeffentlichevergabe: 'Bekanntmachungs\u00ADservice',
      bund: 'service.bund.de',
      mailbox: 'Mein Postfach',
    },
    feed: 'RSS-Feed',
  },
  en: {
    laender: {
      ...laender,
      BY: 'Bavaria',
      HE: 'Hesse',
      MV: 'Mecklenburg-West Pomerania',
      NI: 'Lower Saxony',
      NW: 'North Rhine-Westphalia',
      RP: 'Rhineland-Palatinate',
      SN: 'Saxony',
      ST: 'Saxony-Anhalt',
      TH: 'Thuringia',
    },
    noticeTypes: {
      competition: 'Call for tenders',
      planning: 'Prior information',
      consultation: 'Market consultation',
      result: 'Awarded contract',
      'dir-awa-pre': 'Announced direct award',
      'cont-modif': 'Contract modification',
      change: 'Correction',
      completion: 'Contract completion',
    },
    natures: { works: 'Works', supplies: 'Supplies', services: 'Services' },
    sources: {
      ted: 'TED',
      oeffentlichevergabe: 'Federal notice service',
      bund: 'service.bund.de',
      mailbox: 'My mailbox',
    },
    feed: 'RSS feed',
  },
});

export type Land = keyof typeof names.value.laender;
export type NoticeType = keyof typeof names.value.noticeTypes;
export type Nature = keyof typeof names.value.natures;

export const isLand = (key: string): key is Land => Object.hasOwn(names.value.laender, key);
export const isNoticeType = (key: string): key is NoticeType => Object.hasOwn(names.value.noticeTypes, key);
export const isNature = (key: string): key is Nature => Object.hasOwn(names.value.natures, key);

/** The name of a key; the key itself if it has none. */
export const nameIn = (all: Readonly<Record<string, string>>, key: string): string =>
  Object.hasOwn(all, key) ? (all[key] ?? key) : key;
