import { language } from '../language.ts';

/** What the service says about a server, the kind of failure, and the German words for it (`$1` is the first group of `says`). */
export type Sentence<Kind extends string> = readonly [says: RegExp, kind: Kind, german: string];

/** The first sentence that `message` matches, and the message in the language of the page; null if none does. */
export function matchSentence<Kind extends string>(
  message: string,
  sentences: readonly Sentence<Kind>[],
): { kind: Kind; text: string } | null {
  for (const [says, kind, german] of sentences) {
    if (says.test(message)) return { kind, text: language.value === 'en' ? message : message.replace(says, german) };
  }
  return null;
}

/** What may be wrong with the certificate of a server. */
export const certificateSentences = (server: string, german: string): Sentence<'certificate'>[] =>
  (
    [
      ['has expired', 'ist abgelaufen'],
      ['is not valid yet', 'gilt noch nicht'],
      ['was issued for another name', 'ist auf einen anderen Namen ausgestellt'],
      ['has been revoked', 'wurde widerrufen'],
      ['is self-signed', 'ist selbst signiert'],
      [
        'does not come from an authority that this system trusts',
        'stammt von einer Zertifizierungsstelle, der das Portal nicht vertraut',
      ],
      ['is not valid', 'ist nicht gültig'],
    ] as const
  ).map(([fault, words]) => [
    new RegExp(`^${server} shows a certificate that ${fault}\\.$`),
    'certificate',
    `Das Zertifikat von ${german} ${words}.`,
  ]);
