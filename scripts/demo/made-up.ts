import type { ServerPast } from './past.ts';

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

/** Customers' clouds, each in a folder of one server, with the status it reports and the drawing of its logo. */
export const clouds: { folder: string; customerName: string; status?: Record<string, unknown>; logo?: string }[] = [
  {
    folder: 'bad',
    customerName: 'Bäderbetriebe Musterhausen',
    status: release('34.0.4'),
    logo: '<path fill="#0284c7" d="M0 4c1-1 2-1 3 0s2 1 3 0 1-1 2 0v4H0z"/><circle cx="5.6" cy="1.8" r="1" fill="#f59e0b"/>',
  },
  {
    folder: 'verlag',
    customerName: 'Nordlicht Verlag',
    logo: '<path fill="#4338ca" d="M1 1.4 4 2.2v5L1 6.4zM7 1.4 4 2.2v5l3-.8z"/>',
  },
  {
    folder: 'museum',
    customerName: 'Museum Beispielstadt',
    status: { ...release('35.0.4'), maintenance: true },
    logo: '<path fill="#92400e" d="M4 .6 7.6 2.6H.4zM1 3h1v3H1zm2.5 0h1v3h-1zM6 3h1v3H6zM.4 6.4h7.2v1H.4z"/>',
  },
  { folder: 'verein', customerName: 'Sportverein Probedorf', status: release('29.0.4') },
  {
    folder: 'schule',
    customerName: 'Grundschule am Anger',
    status: release('33.0.4'),
    logo: '<path fill="#15803d" d="M4 1 8 3 4 5 0 3zM1.6 4.4 4 5.6l2.4-1.2v1.8L4 7.2 1.6 6.2z"/>',
  },
  { folder: 'kanzlei', customerName: 'Kanzlei Vorlage und Kollegen', status: release('32.0.4') },
  {
    folder: 'klinik',
    customerName: 'Klinikum Neuheim',
    status: release('34.0.2'),
    logo: '<path fill="#dc2626" d="M3 0h2v3h3v2H5v3H3V5H0V3h3z"/>',
  },
  { folder: 'archiv', customerName: 'Kreisarchiv Probedorf', status: { ...release('35.0.4'), needsDbUpgrade: true } },
];

/** The version as the status of a cloud names it. */
function release(version: string): { version: string; versionstring: string } {
  return { version: `${version}.1`, versionstring: version };
}

/** Monitored servers by their name, and what they went through. */
export const serverPasts: Record<string, ServerPast> = {
  'Cluster Nord': {
    usual: { cpu: 6, memory: 38, fullest: 55, guests: 5 },
    fillsPerDay: 0.15,
    incidents: [{ daysAgo: 9.2, hours: 1.5, state: 'critical', failure: 'netz' }],
  },
  'Sicherung Rathaus': {
    usual: { cpu: 2, memory: 17, fullest: 97 },
    fillsPerDay: 0.85,
    incidents: [],
  },
  'Mail-Gateway': {
    usual: { cpu: 7, memory: 23, fullest: 18, waiting: 22 },
    incidents: [
      { daysAgo: 17, hours: 5, state: 'critical', figures: { waiting: 612 } },
      { daysAgo: 0.2, hours: 5, state: 'warning', figures: { waiting: 140 } },
    ],
  },
  'Cluster Süd': {
    usual: { cpu: 6, memory: 71, fullest: 86, guests: 5 },
    fillsPerDay: 0.3,
    incidents: [{ daysAgo: 0.3, hours: 8, state: 'critical', figures: { memory: 89, guests: 4 } }],
  },
  'Sicherung Außenstelle': { usual: { cpu: 2, memory: 17, fullest: 60 }, fillsPerDay: 0.2, incidents: [] },
  'Testserver Werkstatt': {
    usual: { cpu: 4, memory: 22, fullest: 31, guests: 2 },
    incidents: [
      { daysAgo: 2.6, hours: 63, state: 'critical', failure: 'netz' },
      { daysAgo: 12, hours: 20, state: 'unknown', failure: 'zugang' },
    ],
  },
};
