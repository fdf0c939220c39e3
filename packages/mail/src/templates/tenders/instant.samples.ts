import { edgeCase, person, samplesOf, sender, serviceUrl } from '../samples.ts';
import { instantTenders } from './instant.ts';

const tender = {
  search: 'Reinigung im Westen',
  alsoIn: ['Alles aus NRW'],
  title: 'Glas- und Unterhaltsreinigung Rathaus',
  buyer: 'Stadt Musterhausen',
  place: null,
  deadline: null,
  value: null,
  reasons: ['reinigung'],
  source: 'RSS',
  url: null,
};
const unsubscribeUrl = `${serviceUrl}/unsubscribe/key.AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB`;

export const samples = samplesOf(instantTenders, {
  one: {
    ...sender,
    unsubscribeUrl,
    displayName: person.displayName,
    total: 1,
    tenders: [tender],
    totalChanges: 0,
    changes: [],
  },
  many: {
    ...sender,
    unsubscribeUrl,
    displayName: person.displayName,
    total: 120,
    tenders: Array.from({ length: 20 }, (_, n) => ({ ...tender, title: `Ausschreibung ${n + 1}` })),
    totalChanges: 0,
    changes: [],
  },
  edgeCase: {
    ...sender,
    unsubscribeUrl,
    displayName: edgeCase.displayName,
    total: 1,
    tenders: [{ ...tender, search: edgeCase.displayName, title: edgeCase.displayName }],
    totalChanges: 0,
    changes: [],
  },
});
