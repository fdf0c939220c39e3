import type { ModuleKey } from '@portal/domain/modules/modules';
import { catalogue } from '../language.ts';

const german: Record<ModuleKey, string> = {
  virtualization: 'Überwacht Server für Virtualisierung, Backups und E-Mail-Gateways.',
  'cloud-status': 'Prüft Cloud-Instanzen und ihre Versionen und meldet Ausfälle per E-Mail.',
  'certificate-manager': 'Analysiert Zertifikate und Schlüssel und wandelt sie in andere Formate um.',
  'tender-radar': 'Findet öffentliche Ausschreibungen nach gespeicherten Suchen und meldet neue.',
  'canteen-billing': 'Macht aus Kantinenumsätzen eine Datei für die Lohnbuchhaltung.',
  'merchandise-export': 'Macht aus Warenlisten eine Datei für die Finanzbuchhaltung.',
  'invoice-mailbox': 'Holt Rechnungen aus einem Postfach und liest ihre Daten aus.',
  calendar: 'Zeigt die Termine der Kalender, die jeder für sich hinzufügt.',
};

const english: Record<ModuleKey, string> = {
  virtualization: 'Watches virtualization, backup and mail gateway servers.',
  'cloud-status': 'Checks cloud instances and their versions, and reports failures by mail.',
  'certificate-manager': 'Analyses certificates and keys and converts them to other formats.',
  'tender-radar': 'Finds public tenders by saved searches and reports new ones.',
  'canteen-billing': 'Turns canteen sales into a file for payroll accounting.',
  'merchandise-export': 'Turns merchandise lists into a file for financial accounting.',
  'invoice-mailbox': 'Fetches invoices from a mailbox and reads their data.',
  calendar: 'Shows the events of the calendars that each person adds.',
};

export const texts = catalogue({
  de: {
    views: 'Bereiche',
    view: { grants: 'Berechtigungen', switches: 'An und aus', categories: 'Kategorien', shared: 'Gemeinsame Module' },
    switchesIntro: 'Abgeschaltete Module sieht in Ihrer Organisation niemand, auch die Administration nicht.',
    module: 'Modul',
    about: 'Zweck',
    category: 'Kategorie',
    grants: 'Berechtigungen',
    state: 'Zustand',
    isOn: 'An',
    isOff: 'Aus',
    switchOff: 'Abschalten',
    switchOffTitle: (name: string) => `${name} abschalten?`,
    switchOffText: (grants: number) => [
      'Das Modul verschwindet aus der Navigation aller Konten, auch aus Ihrer.',
      'Seine Seiten und Kacheln zeigen keine Daten mehr.',
      grants === 0
        ? 'Daten und Einstellungen bleiben erhalten.'
        : grants === 1
          ? 'Daten, Einstellungen und 1 Berechtigung bleiben erhalten.'
          : `Daten, Einstellungen und ${grants} Berechtigungen bleiben erhalten.`,
      'Sie können es jederzeit wieder anschalten.',
    ],
    switchedOn: (name: string) => `${name} ist an.`,
    switchedOff: (name: string) => `${name} ist aus.`,
    notSwitched: (name: string) => `${name} wurde nicht umgeschaltet. Bitte versuchen Sie es erneut.`,
    undone: 'Rückgängig gemacht.',
    descriptions: german,
  },
  en: {
    views: 'Sections',
    view: { grants: 'Grants', switches: 'On and off', categories: 'Categories', shared: 'Shared modules' },
    switchesIntro: 'Nobody in your organization sees a module that is switched off, not even administrators.',
    module: 'Module',
    about: 'Purpose',
    category: 'Category',
    grants: 'Grants',
    state: 'State',
    isOn: 'On',
    isOff: 'Off',
    switchOff: 'Switch off',
    switchOffTitle: (name: string) => `Switch off ${name}?`,
    switchOffText: (grants: number) => [
      'The module goes from the navigation of all accounts, also from yours.',
      'Its pages and tiles show no more data.',
      grants === 0
        ? 'Data and settings are kept.'
        : grants === 1
          ? 'Data, settings and 1 grant are kept.'
          : `Data, settings and ${grants} grants are kept.`,
      'You can switch it on again at any time.',
    ],
    switchedOn: (name: string) => `${name} is on.`,
    switchedOff: (name: string) => `${name} is off.`,
    notSwitched: (name: string) => `${name} was not switched. Please try again.`,
    undone: 'Undone.',
    descriptions: english,
  },
});
