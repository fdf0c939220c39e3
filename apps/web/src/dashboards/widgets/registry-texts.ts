import type { WidgetType } from '@portal/domain/dashboards/widgets';
import { catalogue } from '../../language.ts';

export const texts = catalogue({
  de: {
    favorites: ['Favoriten', 'Links zu häufig genutzten Seiten'],
    'picture-frame': ['Bilderrahmen', 'Ihre Bilder im Wechsel'],
    'embedded-page': ['Eingebettete Seite', 'Eine andere Website im Dashboard'],
    reminders: ['Erinnerungen', 'Was fällig ist und was ansteht'],
    clock: ['Uhr', 'Uhrzeit und Datum einer Zeitzone'],
    notes: ['Notiz', 'Freier Text, der sich selbst speichert'],
    calendar: ['Kalender', 'Die nächsten Termine'],
    'tender-radar': ['Ausschreibungen', 'Neue Ausschreibungen einer Suche'],
    'virtualization-status': ['Virtualisierung', 'Zustand der Virtualisierungsserver'],
    'backup-status': ['Backup', 'Zustand der Backupserver'],
    'mail-gateway-status': ['Mailgateway', 'Zustand der Mailgateways'],
    'cloud-status': ['Cloud-Status', 'Zustand und Version der Cloud-Instanzen'],
  },
  en: {
    favorites: ['Favorites', 'Links to pages you use often'],
    'picture-frame': ['Picture frame', 'Your pictures in turn'],
    'embedded-page': ['Embedded page', 'Another website on the dashboard'],
    reminders: ['Reminders', 'What is due and what is coming up'],
    clock: ['Clock', 'Time and date of a time zone'],
    notes: ['Note', 'Free text that saves itself'],
    calendar: ['Calendar', 'The next events'],
    'tender-radar': ['Tenders', 'New tenders of a search'],
    'virtualization-status': ['Virtualization', 'Status of the virtualization servers'],
    'backup-status': ['Backup', 'Status of the backup servers'],
    'mail-gateway-status': ['Mail gateway', 'Status of the mail gateways'],
    'cloud-status': ['Cloud status', 'Status and version of the cloud instances'],
  },
} satisfies Record<'de' | 'en', Record<WidgetType, readonly [label: string, description: string]>>);
