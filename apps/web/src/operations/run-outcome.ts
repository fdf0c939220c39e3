import type { Run } from '@portal/client/interface';
import { language } from '../language.ts';

export const isOver = ({ state }: Pick<Run, 'state'>): boolean => state === 'succeeded' || state === 'failed';

const german: readonly [says: RegExp, words: string][] = [
  [
    /^Something went wrong\. The log shows the cause .*$/,
    'Ein unerwarteter Fehler ist aufgetreten. Das Protokoll des Servers nennt die Ursache.',
  ],
  [/^The work took longer than (\d+) seconds and was stopped\.$/, 'Die Arbeit dauerte länger als $1 Sekunden.'],
  [
    /^The work was interrupted too often and was given up\.$/,
    'Die Arbeit wurde zu oft unterbrochen und deshalb aufgegeben. Bitte starten Sie sie erneut.',
  ],
  [/^This release no longer knows this kind of work\.$/, 'Diese Version des Portals kennt diese Arbeit nicht mehr.'],
  [/^The directory server cannot be reached\.$/, 'Der Verzeichnisserver ist nicht erreichbar.'],
  [/^The mailbox cannot be read\.$/, 'Das Postfach lässt sich nicht lesen.'],
];

/** Why a run failed, in the language of the page if the sentence of the service is known; otherwise as the service says it. */
export function runErrorText(error: string): string {
  const [says, words] = (language.value === 'de' && german.find(([says]) => says.test(error))) || [];
  return says && words ? error.replace(says, words) : error;
}
