import { edgeCase, person, samplesOf, sender, serviceUrl } from '../samples.ts';
import { tenderDigest } from './digest.ts';

const tender = {
  search: 'Reinigung im Westen',
  alsoIn: [],
  title: 'Glas- und Unterhaltsreinigung Rathaus',
  buyer: 'Stadt Musterhausen',
  place: '50667 Musterhausen',
  deadline: 'Fr., 18.12.2026, 11:00 Uhr (noch 28 Tage)',
  value: '480.000 €',
  reasons: ['reinigung', 'CPV 9091'],
  source: 'TED',
  url: 'https://ted.europa.eu/de/notice/-/detail/700123-2026',
};
const unsubscribeUrl = `${serviceUrl}/unsubscribe/key.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB`;
const reader = { ...sender, unsubscribeUrl, displayName: person.displayName };

export const samples = samplesOf(tenderDigest, {
  plain: {
    ...reader,
    total: 2,
    tenders: [
      tender,
      {
        ...tender,
        search: 'Winterdienst',
        alsoIn: ['Alles aus NRW'],
        title: 'Winterdienst Bauhof',
        value: null,
        place: null,
      },
    ],
    totalChanges: 1,
    changes: [
      { title: 'Dachsanierung Schule', kind: 'deadline', deadline: 'Fr., 08.01.2027 (noch 49 Tage)', url: tender.url },
    ],
  },
  full: {
    ...reader,
    total: 4_711,
    tenders: Array.from({ length: 50 }, (_, n) => ({
      ...tender,
      alsoIn: ['Alles aus NRW'],
      title: `${tender.title} ${n + 1}`,
    })),
    totalChanges: 0,
    changes: [],
  },
  manyOfBoth: {
    ...reader,
    total: 4_711,
    tenders: Array.from({ length: 40 }, (_, n) => ({ ...tender, title: `${tender.title} ${n + 1}` })),
    totalChanges: 60,
    changes: Array.from({ length: 10 }, (_, n) => ({
      title: `Dachsanierung Schule ${n + 1}`,
      kind: 'corrected' as const,
      deadline: null,
      url: tender.url,
    })),
  },
  changesAlone: {
    ...reader,
    total: 0,
    tenders: [],
    totalChanges: 1,
    changes: [{ title: 'Dachsanierung Schule', kind: 'cancelled', deadline: null, url: null }],
  },
  edgeCase: {
    ...reader,
    displayName: edgeCase.displayName,
    total: 4_711,
    tenders: [
      {
        ...tender,
        search: edgeCase.displayName,
        alsoIn: [edgeCase.displayName],
        title: edgeCase.displayName,
        buyer: '<img src=x onerror=alert(1)>',
        url: 'https://source.example/?a=1&b=<b>',
      },
    ],
    totalChanges: 0,
    changes: [],
  },
});
