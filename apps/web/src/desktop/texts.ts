import { catalogue } from '../language.ts';

const systems = { windows: 'Windows', darwin: 'macOS', linux: 'Linux' };

export const texts = catalogue({
  de: {
    intro: 'Die Desktop-App öffnet das Portal in einem eigenen Fenster.',
    version: (version: string, channel: string) => `Version ${version} (${channel})`,
    forYou: 'Für diesen Computer',
    which: 'Welcher Prozessor?',
    whichText: {
      darwin:
        'Ihr Browser nennt den Prozessor nicht. Apple-Menü › „Über diesen Mac“ zeigt ihn: „Apple M…“ ist ARM, sonst Intel.',
      windows: 'Ihr Browser nennt den Prozessor nicht. Einstellungen › System › Info zeigt ihn unter „Systemtyp“.',
      linux: 'Ihr Browser nennt den Prozessor nicht. Der Befehl „uname -m“ zeigt ihn.',
    },
    noneForYou: (system: string) => `Für ${system} auf diesem Computer gibt es noch kein Paket.`,
    noComputer: 'Für dieses Gerät gibt es keine App. Öffnen Sie diese Seite auf einem Computer.',
    others: 'Andere Systeme',
    all: 'Alle Systeme',
    systems,
    processors: {
      windows: { x86_64: 'Intel/AMD, 64 Bit', aarch64: 'ARM, 64 Bit' },
      darwin: { x86_64: 'Intel', aarch64: 'Apple Silicon (ARM)' },
      linux: { x86_64: 'Intel/AMD, 64 Bit', aarch64: 'ARM, 64 Bit' },
    },
    download: 'Herunterladen',
    downloadFor: (name: string) => `Für ${name} herunterladen`,
    file: 'Datei',
    size: 'Größe',
    signed: 'Signiert: Die App prüft ihre Updates selbst.',
    unsigned: 'Nicht signiert: Diese App aktualisiert sich nicht selbst.',
    checksum: 'SHA-256',
    copy: 'Prüfsumme kopieren',
    checksumText: 'Wer sichergehen will, vergleicht die Prüfsumme der heruntergeladenen Datei mit dieser.',
    none: 'Noch keine Desktop-App',
    noneText: 'Dieses Portal bietet keine App zum Herunterladen an. Im Browser haben Sie alle Funktionen.',
  },
  en: {
    intro: 'The desktop app opens the portal in a window of its own.',
    version: (version: string, channel: string) => `Version ${version} (${channel})`,
    forYou: 'For this computer',
    which: 'Which processor?',
    whichText: {
      darwin:
        'Your browser does not tell the processor. Apple menu › “About This Mac” shows it: “Apple M…” is ARM, others are Intel.',
      windows: 'Your browser does not tell the processor. Settings › System › About shows it as “System type”.',
      linux: 'Your browser does not tell the processor. The command “uname -m” shows it.',
    },
    noneForYou: (system: string) => `There is no package for ${system} on this computer yet.`,
    noComputer: 'There is no app for this device. Open this page on a computer.',
    others: 'Other systems',
    all: 'All systems',
    systems,
    processors: {
      windows: { x86_64: 'Intel/AMD, 64 bit', aarch64: 'ARM, 64 bit' },
      darwin: { x86_64: 'Intel', aarch64: 'Apple silicon (ARM)' },
      linux: { x86_64: 'Intel/AMD, 64 bit', aarch64: 'ARM, 64 bit' },
    },
    download: 'Download',
    downloadFor: (name: string) => `Download for ${name}`,
    file: 'File',
    size: 'Size',
    signed: 'Signed: the app checks its updates itself.',
    unsigned: 'Not signed: this app does not update itself.',
    checksum: 'SHA-256',
    copy: 'Copy the checksum',
    checksumText: 'To be on the safe side, compare the checksum of the downloaded file with this one.',
    none: 'No desktop app yet',
    noneText: 'This portal offers no app to download. In the browser you have every function.',
  },
});
