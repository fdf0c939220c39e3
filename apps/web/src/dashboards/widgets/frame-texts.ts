import { catalogue } from '../../language.ts';

export const texts = catalogue({
  de: {
    noPictures: 'Wählen Sie in den Einstellungen dieser Kachel Bilder aus.',
    pictureFailed: (name: string) => `Das Bild „${name}“ konnte nicht geladen werden.`,
    previous: 'Voriges Bild',
    next: 'Nächstes Bild',
    pause: 'Wechsel anhalten',
    play: 'Bilder wechseln',
    notHttps: 'Tragen Sie in den Einstellungen dieser Kachel eine Adresse ein, die mit https:// beginnt.',
    ownOrigin: 'Das Portal kann sich nicht selbst einbetten. Bitte wählen Sie eine andere Adresse.',
    mayRefuse: 'Manche Websites lassen sich nicht einbetten.',
    reload: (name: string) => `${name} neu laden`,
  },
  en: {
    noPictures: 'Choose pictures in the settings of this tile.',
    pictureFailed: (name: string) => `The picture “${name}” could not be loaded.`,
    previous: 'Previous picture',
    next: 'Next picture',
    pause: 'Pause',
    play: 'Play',
    notHttps: 'Enter an address that begins with https:// in the settings of this tile.',
    ownOrigin: 'The portal cannot embed itself. Please choose another address.',
    mayRefuse: 'Some websites cannot be embedded.',
    reload: (name: string) => `Reload ${name}`,
  },
});
