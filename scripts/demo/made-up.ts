/** The people and systems of the demo tenant: all invented, under domains that cannot exist (RFC 2606). */
export const tenantName = 'Stadtwerke Musterhausen';
export const domain = 'musterhausen.example';

export interface Person {
  username: string;
  displayName: string;
  role: 'ADMIN' | 'USER';
  isActive: boolean;
  groups: string[];
}

export const people = [
  { username: 'mara.muster', displayName: 'Mara Muster', role: 'ADMIN', isActive: true, groups: ['IT'] },
  { username: 'jonas.beispiel', displayName: 'Jonas Beispiel', role: 'USER', isActive: true, groups: ['IT'] },
  { username: 'lena.probe', displayName: 'Lena Probe', role: 'USER', isActive: true, groups: ['Finanzen'] },
  { username: 'timo.vorlage', displayName: 'Timo Vorlage', role: 'USER', isActive: true, groups: ['Einkauf'] },
  { username: 'ida.ehemals', displayName: 'Ida Ehemals', role: 'USER', isActive: false, groups: [] },
] as const satisfies Person[];

/** Grants of each group. */
export const grants = {
  IT: { virtualization: 'MANAGE', 'cloud-status': 'MANAGE', 'certificate-manager': 'USE', calendar: 'USE' },
  Finanzen: {
    'canteen-billing': 'MANAGE',
    'merchandise-export': 'MANAGE',
    'invoice-mailbox': 'MANAGE',
    calendar: 'USE',
  },
  Einkauf: { 'tender-radar': 'USE', 'invoice-mailbox': 'USE', calendar: 'USE' },
} as const;

/** Customers' clouds, each in a folder of one server, with the status it reports. */
export const clouds: { folder: string; customerName: string; status?: Record<string, unknown> }[] = [
  { folder: 'bad', customerName: 'Bäderbetriebe Musterhausen' },
  { folder: 'verlag', customerName: 'Nordlicht Verlag' },
  { folder: 'museum', customerName: 'Museum Beispielstadt', status: { maintenance: true } },
  {
    folder: 'verein',
    customerName: 'Sportverein Probedorf',
    status: { version: '29.0.4.1', versionstring: '29.0.4' },
  },
];
