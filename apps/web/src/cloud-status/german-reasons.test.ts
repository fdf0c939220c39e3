import { expect, it } from 'vitest';
import { germanReason } from './german-reasons.ts';

it.each([
  ['The server of the cloud reported an error (503).', 'Der Server der Cloud meldet einen Fehler (503).'],
  ['The answer is not the one expected (418).', 'Die Antwort ist nicht die erwartete (418).'],
  [
    'The address redirects to another place: https://elsewhere.example/.',
    'Die Adresse leitet an eine andere Stelle weiter: https://elsewhere.example/.',
  ],
  [
    'cloud.example.org has no address: DNS does not know this name.',
    'cloud.example.org hat keine Adresse: Das DNS kennt diesen Namen nicht.',
  ],
  ['cloud.example.org:8443 did not answer in time.', 'cloud.example.org:8443 hat nicht rechtzeitig geantwortet.'],
  [
    'cloud.example.org showed a certificate that was issued for another name.',
    'Das Zertifikat von cloud.example.org gilt für einen anderen Namen.',
  ],
  [
    'intern.example is not an address on the public internet that the portal may call.',
    'intern.example hat keine Adresse, die das Portal aufrufen darf.',
  ],
  [
    'intern.example is not at an address that the portal may call.',
    'intern.example hat keine Adresse, die das Portal aufrufen darf.',
  ],
])('%s', (sentence, german) => {
  expect(germanReason(sentence)).toBe(german);
});

it.each(['', 'The cloud sings.', 'The cloud is in maintenance. The cloud has extended support.'])(
  'has no words for what it does not know: %j',
  (sentence) => {
    expect(germanReason(sentence)).toBeNull();
  },
);
