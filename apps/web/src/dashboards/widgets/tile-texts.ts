import { catalogue } from '../../language.ts';

export const texts = catalogue({
  de: {
    MODULE_DISABLED: 'Dieses Modul ist abgeschaltet.',
    MODULE_ACCESS_DENIED: 'Sie haben keinen Zugriff mehr auf dieses Modul.',
    openInNewTab: 'In neuem Tab öffnen',
    notShown: (n: number) => `… und ${n} weitere`,
  },
  en: {
    MODULE_DISABLED: 'This module is switched off.',
    MODULE_ACCESS_DENIED: 'You no longer have access to this module.',
    openInNewTab: 'Open in a new tab',
    notShown: (n: number) => `… and ${n} more`,
  },
});
