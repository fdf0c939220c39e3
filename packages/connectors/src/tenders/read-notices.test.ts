import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { readEforms } from '@portal/domain/tenders/eforms';
import { noticeOf, type ReadNotice } from '@portal/domain/tenders/notice-draft';
import { noticeBounds } from '@portal/domain/tenders/notice-record';
import { readTedNotice } from '@portal/domain/tenders/ted-notice';
import { dialectXml, eformsXml, madeUpNotice, tedJson } from '@portal/testing/made-up-notices';
import { noticeSample, noticeSamples } from '@portal/testing/notice-samples';
import { noticeTools } from './notice-tools.ts';
import { readXml } from './read-xml.ts';

const read = (xml: string | Uint8Array, sourcePortal = 'oeffentlichevergabe', day: string | null = null): ReadNotice =>
  noticeOf(readEforms(readXml(Buffer.from(xml)), { sourcePortal, day }), noticeTools);

/** The expected values of a sample; all other fields are null, false or empty. */
interface Found {
  id: string;
  procedure?: string;
  published: string;
  form: string;
  type: string;
  subtype?: string;
  procedureType?: string;
  nature?: string;
  language?: string;
  title: string;
  buyer: string;
  city?: string;
  cpv?: string[];
  nuts?: string[];
  land?: string;
  nationwide?: true;
  region?: string;
  deadlines?: [kind: string, lot: string, at: string][];
  dateOnly?: true;
  cents?: number;
  lots: string[];
  documents?: string;
  portals?: string[];
  changes?: string;
  cancelled?: true;
}

const itServices = 'Provision of IT Services Related to OP IT Systems (EUR-Lex, N-Lex, Search Layer, and Others)';
const testing = 'Term Contract for a Planned Programme of In-service Inspection and Testing of Electrical Equipment';
const gardens = "Service d'entretien de remise en état et de nettoyage des espaces verts";

const samples: Record<string, Found> = {
  'doe_25599482-1_sdk-0.1_cn.xml': {
    id: '25599482-1',
    published: '2026-07-16T22:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    procedureType: 'de-restricted-wo-call',
    title: 'Lose Möblierung',
    buyer: 'VGem Volkach',
    city: 'Volkach',
    nuts: ['DE2'],
    land: 'BY',
    region: '97334 Sommerach',
    deadlines: [['tender', 'LOT-0000', '2026-08-13T21:59:00.000Z']],
    dateOnly: true,
    lots: ['LOT-0000 Lose Möblierung'],
    documents: 'https://www.staatsanzeiger-eservices.de/besuJs/BekLanding4Bund?z_param=2026-11-0291004',
    portals: ['staatsanzeiger:2026-11-0291004'],
  },
  'sdk-1.15.1_E1_minimal.xml': {
    id: '52fe3748-f475-4381-9dbf-31ebb08889e8-01',
    published: '2024-12-04T23:00:00.000Z',
    form: 'consultation',
    type: 'pmc',
    subtype: 'E1',
    nature: 'services',
    language: 'eng',
    title: 'Procedure Name',
    buyer: 'Buyer Org',
    cpv: ['72000000'],
    nationwide: true,
    lots: ['LOT-0001 Lot Name'],
  },
  'sdk-1.15.1_E3_minimal.xml': {
    id: 'a03fdc6d-9924-4e99-93cf-39b925bb4826-01',
    procedure: 'd8e0c26b-6206-4588-85f5-946afb84a37d',
    published: '2024-11-20T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: 'E3',
    procedureType: 'open',
    nature: 'services',
    language: 'eng',
    title: 'Provision of IT Services related to ...',
    buyer: 'Buyer Org',
    cpv: ['72230000'],
    nuts: ['LU000'],
    lots: ['LOT-0001 Provision of IT Services related to ...'],
  },
  'sdk-1.15.1_E4_minimal.xml': {
    id: 'd1106611-6941-48f4-9029-8b11062939af-01',
    procedure: '8698a8e5-9815-4889-ae6a-632170aeb5e6',
    published: '2025-10-22T22:00:00.000Z',
    form: 'result',
    type: 'can-standard',
    subtype: 'E4',
    nature: 'services',
    language: 'fra',
    title: gardens,
    buyer: 'Rouen Habitat',
    cpv: ['77310000'],
    nuts: ['FRD22'],
    lots: ['LOT-0001 Agence centre'],
  },
  'sdk-1.15.1_can-modif_24_value.xml': {
    id: '3572a106-eb30-4c7a-8ac5-b3502f71742a-01',
    procedure: '8e8b5cf4-595b-4562-85b0-7c79922cb330',
    published: '2018-08-01T22:00:00.000Z',
    form: 'cont-modif',
    type: 'can-modif',
    subtype: '38',
    nature: 'services',
    language: 'eng',
    title: 'Change Partner',
    buyer: 'London South Bank University',
    city: 'London',
    cpv: ['79410000'],
    cents: 450_000_000,
    lots: ['LOT-0000 Change Partner'],
  },
  'sdk-1.15.1_can_24_minimal.xml': {
    id: '65667997-031a-4198-bd25-7225449ef479-01',
    procedure: '022d0ef9-6338-42d9-afa4-a87709128061',
    published: '2019-10-22T22:00:00.000Z',
    form: 'result',
    type: 'can-standard',
    subtype: '29',
    procedureType: 'open',
    nature: 'services',
    language: 'fra',
    title: gardens,
    buyer: 'Rouen Habitat',
    city: 'Rouen Cedex 1',
    cpv: ['77310000'],
    nuts: ['FRD22'],
    cents: 39_069_784,
    lots: ['LOT-0000 Agence centre'],
  },
  'sdk-1.15.1_can_24_no_tenders.xml': {
    id: 'da7ec2b4-ff04-4838-8e28-489a3b5c573c-01',
    procedure: '084ecda3-0409-427a-a623-1212174063da',
    published: '2015-02-01T23:00:00.000Z',
    form: 'result',
    type: 'can-standard',
    subtype: '29',
    procedureType: 'oth-single',
    nature: 'services',
    language: 'eng',
    title: 'foo',
    buyer: 'foo',
    city: 'Luxembourg',
    cpv: ['72000000'],
    nationwide: true,
    lots: ['LOT-0001 foo'],
  },
  'sdk-1.15.1_change-cn_24_open_dates.xml': {
    id: '71397268-6c47-4f2f-8ab0-f41a26138f81-01',
    procedure: '31f258b6-5eb2-4875-8997-affa3cdce27c',
    published: '2020-04-16T22:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'services',
    language: 'eng',
    title: testing,
    buyer: 'Renfrewshire Council',
    city: 'Paisley',
    cpv: ['71630000', '71314100', '50300000', '31600000'],
    deadlines: [['tender', 'LOT-0000', '2020-06-12T11:00:00.000Z']],
    cents: 50_000_000,
    lots: [`LOT-0000 ${testing}`],
    documents: 'https://www.publictendersscotland.publiccontractsscotland.gov.uk/',
    changes: 'c4c415ee-ac08-4465-8fa6-57568cf69462/1',
  },
  'sdk-1.15.1_change-cn_24_void.xml': {
    id: '1d192942-a4a3-4833-8775-ca38f7ec09ca-01',
    procedure: '4805c409-5939-4be9-8abd-837f7a5fee23',
    published: '2019-12-20T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'services',
    language: 'eng',
    title: itServices,
    buyer: 'Publications Office of the European Union',
    city: 'Luxembourg',
    cpv: ['72230000'],
    nuts: ['FRD22'],
    deadlines: [['tender', 'LOT-0000', '2020-02-04T08:00:00.000Z']],
    lots: [`LOT-0000 ${itServices}`],
    documents: 'https://etendering.ted.europa.eu/cft/cft-display.html?cftId=5629',
    changes: 'f42be27e-09cf-4f0e-a745-63ec689631e6/1',
    cancelled: true,
  },
  'sdk-1.15.1_cn_24_maximal.xml': {
    id: '14549263-b47b-4e59-96a1-2d0d13e19343-03',
    procedure: 'aff2863e-b4cc-4e91-baba-b3b85f709117',
    published: '2023-03-22T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'neg-w-call',
    nature: 'services',
    language: 'eng',
    title: 'Procurement Title ---',
    buyer: 'Financial Adinistration for ...',
    city: 'Luxembourg',
    cpv: ['79710000', '79720000', '75121000'],
    nuts: ['LU000'],
    nationwide: true,
    region: '1234 Luxembourg',
    deadlines: [
      ['participation', 'LOT-0001', '2023-05-22T19:59:32.000Z'],
      ['participation', 'LOT-0002', '2023-05-22T19:59:32.000Z'],
    ],
    cents: 999_999_999,
    lots: ['LOT-0001 Title ---', 'LOT-0002 Title Lot 2---'],
    documents: 'http://nonrestricteddocuments.com/',
  },
  'sdk-1.15.1_cn_24_minimal.xml': {
    id: 'f42be27e-09cf-4f0e-a745-63ec689631e6-01',
    procedure: '4805c409-5939-4be9-8abd-837f7a5fee23',
    published: '2019-11-20T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'services',
    language: 'eng',
    title: itServices,
    buyer: 'Publications Office of the European Union',
    city: 'Luxembourg',
    cpv: ['72230000'],
    nuts: ['FRD22'],
    deadlines: [['tender', 'LOT-0000', '2020-02-04T08:00:00.000Z']],
    lots: [`LOT-0000 ${itServices}`],
    documents: 'https://etendering.ted.europa.eu/cft/cft-display.html?cftId=5629',
  },
  'sdk-1.15.1_cn_24_open.xml': {
    id: 'c4c415ee-ac08-4465-8fa6-57568cf69462-01',
    procedure: '31f258b6-5eb2-4875-8997-affa3cdce27c',
    published: '2020-02-27T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'services',
    language: 'eng',
    title: testing,
    buyer: 'Renfrewshire Council',
    city: 'Paisley',
    cpv: ['71630000', '71314100', '50300000', '31600000'],
    deadlines: [['tender', 'LOT-0000', '2020-04-03T11:00:00.000Z']],
    cents: 50_000_000,
    lots: [`LOT-0000 ${testing}`],
    documents: 'https://www.publictendersscotland.publiccontractsscotland.gov.uk/',
  },
  'sdk-1.15.1_pin-cfc_25.xml': {
    id: 'c48d000f-2598-47b3-856e-de93bf654518-01',
    procedure: 'c2a0dcd1-4d17-4072-9252-38de16ead921',
    published: '2020-04-07T22:00:00.000Z',
    form: 'competition',
    type: 'pin-cfc-standard',
    subtype: '11',
    procedureType: 'oth-mult',
    nature: 'services',
    language: 'deu',
    title: 'Instandhaltung Brandschutztüren',
    buyer: 'Flughafen Stuttgart GmbH',
    city: 'Stuttgart',
    cpv: ['50712000'],
    nuts: ['DE113'],
    land: 'BW',
    region: 'Esslingen',
    deadlines: [
      ['interest', 'LOT-0001', '2020-05-18T22:59:59.000Z'],
      ['interest', 'LOT-0002', '2020-05-18T22:59:59.000Z'],
    ],
    lots: ['LOT-0001 Instandhaltung Brandschutztüren Terminals', 'LOT-0002 Lot No: 2'],
    portals: ['subreport:E49898235'],
  },
  'sdk-1.15.1_pin-only_24.xml': {
    id: 'f252f386-55ac-4fa8-9be4-9f950b9904c8-01',
    published: '2020-05-04T22:00:00.000Z',
    form: 'planning',
    type: 'pin-only',
    subtype: '4',
    nature: 'services',
    language: 'eng',
    title: 'ProPrName1234',
    buyer: 'PartyName1234',
    city: 'City1234',
    cpv: ['72000000', '50000000'],
    nuts: ['DE123'],
    land: 'BW',
    region: 'RealizedLocPostalZone1234 RealizedLocCity1234',
    cents: 10_000_000,
    lots: ['PAR-0000 ProPrName1234-1'],
  },
  'sdk-1.15.1_veat_23.xml': {
    id: '9938e0b2-bba7-4123-b96b-a654440660bf-01',
    procedure: 'f83d19fa-192f-4eba-acc0-b1a6ac8862c7',
    published: '2023-01-09T23:00:00.000Z',
    form: 'dir-awa-pre',
    type: 'veat',
    subtype: '28',
    procedureType: 'neg-wo-call',
    nature: 'services',
    language: 'deu',
    title: 'Wasser-Konzessionsvertrag und Löschwasservereinbarung',
    buyer: 'Stadt Neckargemünd',
    city: 'Neckargemünd',
    cpv: ['65110000'],
    nuts: ['DE128'],
    land: 'BW',
    region: 'Rhein-Neckar-Kreis',
    cents: 1_000_000,
    lots: ['LOT-0000 Wasser-Konzessionsvertrag und Löschwasservereinbarung'],
  },
  'ted_622691-2023_cn-16_deu.xml': {
    id: '622691-2023',
    procedure: '0f4b6986-1641-4bdb-ae53-81319484d5ae',
    published: '2023-10-12T22:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'supplies',
    language: 'deu',
    title:
      'Abschluss nicht-exklusiver Rabattvereinbarungen nach § 130a Abs. 8 SGB V zu den genannten Wirkstoffen mit Abschlussmöglichkeit im Rahmen des sogenannten Open-House-Verfahrens.',
    buyer: 'KKH Kaufmännische Krankenkasse',
    city: 'Hannover',
    cpv: ['33600000'],
    deadlines: [['tender', 'LOT-0001', '2026-12-31T22:59:00.000Z']],
    lots: ['LOT-0001 Lenograstim (L03AA10)'],
    documents: 'https://www.kkh.de/vertragspartner/arzneimittel',
  },
  'ted_650618-2023_cn-17_deu.xml': {
    id: '650618-2023',
    procedure: '9b4f6733-594c-486f-8bd1-875d3f6a3ed2',
    published: '2023-10-25T22:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '17',
    procedureType: 'open',
    nature: 'supplies',
    language: 'deu',
    title: 'Bahnbaugeräte und Werkzeuge',
    buyer: 'WIENER LINIEN GmbH & Co KG',
    city: 'Wien',
    cpv: ['42611000'],
    nuts: ['AT130'],
    region: '1031 Wien',
    deadlines: [['tender', 'LOT-7750', '2023-11-24T08:00:00.000Z']],
    lots: ['LOT-7750 Bahnbaugeräte und Werkzeuge'],
    documents: 'https://wstw.vergabeportal.at/Detail/165063',
  },
  'ted_657565-2023_cn-16_DE.xml': {
    id: '657565-2023',
    procedure: 'cd01586c-319a-4e99-8e34-e727e0f03271',
    published: '2023-10-26T22:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '16',
    procedureType: 'open',
    nature: 'supplies',
    language: 'deu',
    title: 'Lieferung von Öko-Strom für die Bundesbank im Zeitraum 01/2024 bis 12/2026',
    buyer: 'Deutsche Bundesbank, vertreten durch VEA Beratungs-GmbH',
    city: 'Frankfurt am Main',
    cpv: ['09310000'],
    nuts: ['DE712'],
    land: 'HE',
    region: 'Frankfurt am Main, Kreisfreie Stadt',
    deadlines: [
      ['tender', 'LOT-0001', '2023-11-13T12:00:00.000Z'],
      ['tender', 'LOT-0002', '2023-11-13T12:00:00.000Z'],
    ],
    lots: ['LOT-0001 Stromlieferung BBK in 2024-2026', 'LOT-0002 Stromlieferung BBK in 2024-2026 (Wohnliegenschaften)'],
    documents:
      'https://www.vea-ausschreibungen.de/NetServer/TenderingProcedureDetails?function=_Details&TenderOID=54321-Tender-18b36f84ed0-2f6d428a505fbb60',
    portals: ['netserver:54321-Tender-18b36f84ed0-2f6d428a505fbb60'],
  },
  'ted_731596-2023_cn-18_DE.xml': {
    id: '731596-2023',
    procedure: '2579cfd9-9d18-454d-bc0b-e34d9734a0d8',
    published: '2023-11-30T23:00:00.000Z',
    form: 'competition',
    type: 'cn-standard',
    subtype: '18',
    procedureType: 'neg-w-call',
    nature: 'supplies',
    language: 'deu',
    title: 'Verschieberegalanlage',
    buyer: 'Bw Bekleidungsmanagement GmbH',
    city: 'Köln',
    cpv: ['39151100', '39141100', '39131100'],
    nuts: ['DE938'],
    land: 'NI',
    region: '29664 Walsrode',
    deadlines: [['participation', 'LOT-0000', '2024-01-03T09:00:00.000Z']],
    lots: ['LOT-0000 Verschieberegalanlage'],
    documents:
      'https://vergabe.bwbm.de/NetServer/TenderingProcedureDetails?function=_Details&TenderOID=54321-Tender-18bf6b4c6f0-1d537280740c5de2',
    portals: ['netserver:54321-Tender-18bf6b4c6f0-1d537280740c5de2'],
  },
  'ted_741214-2023_qu-sy-15_deu.xml': {
    id: '741214-2023',
    procedure: 'e7a837d2-ab0a-4c77-bc18-98acb35a7b80',
    published: '2023-12-05T23:00:00.000Z',
    form: 'competition',
    type: 'qu-sy',
    subtype: '15',
    nature: 'supplies',
    language: 'deu',
    title: '(ProVia-ID 1026) Aluminiumguss-Armaturen für Oberleitungs-Porzellan-Isolatoren',
    buyer:
      'ÖBB-Holding AG sowie die mit ihr im Sinne des § 189a Z 8 UGB verbundenen Gesellschaften, alle vertreten durch die ÖBB-Infrastruktur AG',
    city: 'Wien',
    cpv: ['44530000', '44111500'],
    nationwide: true,
    lots: ['LOT-0000 (ProVia-ID 1026) Aluminiumguss-Armaturen für Oberleitungs-Porzellan-Isolatoren'],
  },
};

/** A record in the format of the table. */
function inTableFormat(record: ReadNotice): Found {
  const { changes, bundesland, currency, valueCents, lots, deadlines } = record;
  expect(currency).toBe(valueCents === null ? null : 'EUR');
  expect(record.bundeslaender).toEqual(bundesland === null ? [] : [bundesland]);
  expect(record.cpvDivisions).toEqual([...new Set(record.cpvCodes.map((code) => code.slice(0, 2)))]);
  const values = {
    id: record.sourceNoticeId,
    procedure: record.procedureUuid,
    published: record.publishedAt,
    form: record.form,
    type: record.noticeType,
    subtype: record.subtype,
    procedureType: record.procedureType,
    nature: record.nature,
    language: record.language,
    title: record.title,
    buyer: record.buyerName,
    city: record.buyerCity,
    cpv: record.cpvCodes,
    nuts: record.nutsCodes,
    land: bundesland,
    nationwide: record.isNationwide,
    region: record.region,
    deadlines: deadlines.map(({ kind, lotId, at }) => [kind, lotId, at]),
    dateOnly: deadlines.some(({ isDateOnly }) => isDateOnly),
    cents: valueCents,
    lots: lots.map(({ id, title }) => `${id} ${title}`),
    documents: record.documentsUrl,
    portals: record.portalIds,
    changes: changes && `${changes.noticeUuid}/${changes.version}`,
    cancelled: record.isCancelled,
  };
  const isPresent = (value: unknown) =>
    value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isPresent(value))) as unknown as Found;
}

describe('notices in eForms', () => {
  it('cover all sample files', () => {
    expect(Object.keys(samples).toSorted()).toEqual(noticeSamples());
  });

  it.each(Object.entries(samples))('%s gives the expected record', (name, found) => {
    const record = read(noticeSample(name), name.startsWith('ted') ? 'ted' : 'oeffentlichevergabe');
    expect(inTableFormat(record)).toEqual(found);
    expect(record.isCorrection).toBe(found.changes !== undefined);
    expect(read(noticeSample(name), name.startsWith('ted') ? 'ted' : 'oeffentlichevergabe').hash).toBe(record.hash);
  });

  it('give the same record with any namespace prefix, and another one when a value changes', () => {
    const notice = madeUpNotice(1);
    const xml = eformsXml(notice);
    const renamed = xml
      .replaceAll('cbc:', 'ns3:')
      .replaceAll('cac:', 'x:')
      .replaceAll('xmlns:cbc', 'xmlns:ns3')
      .replaceAll('xmlns:cac', 'xmlns:x');
    expect(read(renamed)).toEqual(read(xml));
    expect(read(eformsXml({ ...notice, deadlineDay: '2099-12-19' })).hash).not.toBe(read(xml).hash);
  });

  it('in the dialect link to the portal they come from, or to the national service by number', () => {
    const sample = noticeSample('doe_25599482-1_sdk-0.1_cn.xml').toString();
    const landing = 'https://www.staatsanzeiger-eservices.de/besuJs/BekLanding4Bund?z_param=2026-11-0291004';
    expect(read(sample).sourceUrl).toBe(landing);
    const number = 'https://oeffentlichevergabe.de/ui/de/search/details?noticeId=25599482';
    for (const none of ['', 'javascript:alert(1)', 'siehe Anlage'])
      expect(read(sample.replace(landing, none)).sourceUrl).toBe(number);
  });

  it('in the dialect count a later version as a correction, and keep their form', () => {
    const notice = madeUpNotice(2, { id: '4711', version: 2 });
    expect(read(dialectXml(notice))).toMatchObject({
      noticeKey: '4711',
      bundId: '4711',
      noticeVersion: 2,
      isCorrection: true,
      form: 'competition',
    });
  });

  it.each([
    ['45', '45000000'],
    ['4545', '45450000'],
    ['90911000-6', '90911000'],
  ])('normalize the CPV code %s to %s', (code, full) => {
    expect(read(eformsXml(madeUpNotice(3, { cpv: [code] }))).cpvCodes).toEqual([full]);
  });

  it('are limited with ten thousand codes, a long title and a thousand lots', () => {
    const codes = Array.from({ length: 10_000 }, (_, n) => `90${String(n).padStart(6, '0')}`);
    const xml = eformsXml(madeUpNotice(4, { cpv: codes, title: 'x'.repeat(10_000) }));
    const [lot = ''] = /<cac:ProcurementProjectLot>.*<\/cac:ProcurementProjectLot>/s.exec(xml) ?? [];
    const record = read(
      eformsXml(madeUpNotice(4, { description: 'y'.repeat(50_000), title: 'x'.repeat(10_000) })).replace(
        '</ContractNotice>',
        `${lot.replaceAll(/<cac:AdditionalCommodityClassification>.*?<\/cac:AdditionalCommodityClassification>/gs, '').repeat(999)}</ContractNotice>`,
      ),
    );
    expect(read(xml).cpvCodes).toHaveLength(noticeBounds.cpvCodes);
    expect(record.title).toHaveLength(noticeBounds.title);
    expect(record.description).toHaveLength(noticeBounds.description);
    expect(record.lots).toHaveLength(noticeBounds.lots);
    expect(JSON.stringify(record.lots).length).toBeLessThan(2 * noticeBounds.lotText);
    expect(record.deadlines).toHaveLength(noticeBounds.deadlines);
  });

  it('give the visible text of markup', () => {
    const record = read(
      eformsXml(madeUpNotice(5, { title: '<b>Glas</b>reinigung <script>alert(1)</script>&amp; mehr' })),
    );
    expect(record.title).toBe('Glasreinigung & mehr');
  });

  it.each([
    ['a day that does not exist', { deadlineDay: '2026-02-30' }],
    ['an implausible year', { deadlineDay: '0001-01-01' }],
    ['a word as deadline', { deadlineDay: 'morgen' }],
  ])('with %s have no deadline', (_, changes) => {
    expect(read(eformsXml(madeUpNotice(6, changes))).deadlines).toEqual([]);
  });

  it.each([
    [
      'no id',
      (xml: string) => xml.replace(/<cbc:ID schemeName="notice-id">[^<]*/, '<cbc:ID schemeName="notice-id">'),
      'has no id.',
    ],
    [
      'no title',
      (xml: string) => xml.replaceAll(/<cbc:Name languageID="DEU">[^<]*/g, '<cbc:Name languageID="DEU">'),
      'has no title.',
    ],
    ['another root element', () => '<Invoice/>', 'is not a notice but a document called Invoice.'],
    ['a truncated document', (xml: string) => xml.slice(0, 3_000), 'is not well-formed XML'],
    ['a text that is not XML', () => 'Service Unavailable', 'is not well-formed XML'],
    ['an empty document', () => '', 'is not'],
    ['a DOCTYPE', (xml: string) => xml.replace('?>', '?><!DOCTYPE x [<!ENTITY a "b">]>'), 'has a DOCTYPE'],
    ['a DOCTYPE in lower case', (xml: string) => xml.replace('?>', '?><!doctype x>'), 'has a DOCTYPE'],
    [
      'too many elements',
      (xml: string) => xml.replace('</ContractNotice>', `${'<a/>'.repeat(250_000)}</ContractNotice>`),
      'has too many elements.',
    ],
    [
      'deeply nested elements',
      (xml: string) =>
        xml.replace('</ContractNotice>', `${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}</ContractNotice>`),
      'is not well-formed XML',
    ],
  ])('with %s are refused with a reason', (_, spoil, reason) => {
    expect(() => read(spoil(eformsXml(madeUpNotice(7))))).toThrow(reason);
  });

  it('are refused with a DOCTYPE in UTF-16', () => {
    const bomb =
      '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><l>&b;</l>';
    for (const encoding of ['utf-16le', 'utf-16be'])
      expect(() => readXml(iconv.encode(bomb, encoding, { addBOM: true }))).toThrow('has a DOCTYPE');
  });

  it('are decoded in their declared encoding', () => {
    const xml = eformsXml(madeUpNotice(8, { title: 'Gebäudereinigung' })).replace('UTF-8', 'ISO-8859-1');
    expect(read(iconv.encode(xml, 'latin1')).title).toBe('Gebäudereinigung');
  });
});

describe('notices of the European search', () => {
  const readTed = (json: Record<string, unknown>) => noticeOf(readTedNotice(json), noticeTools);

  it('give the same values as the eForms document', () => {
    const notice = madeUpNotice(10, { publicationNumber: '700123-2026', version: 1 });
    const [json, xml] = [readTed(tedJson(notice)), read(eformsXml(notice), 'ted')];
    for (const field of [
      'sourceNoticeId',
      'noticeUuid',
      'procedureUuid',
      'title',
      'buyerName',
      'cpvCodes',
      'bundesland',
      'form',
      'publishedAt',
      'valueCents',
      'currency',
      'procedureType',
      'nature',
    ] as const)
      expect([field, json[field]]).toEqual([field, xml[field]]);
    expect(json.deadlines).toEqual(xml.deadlines);
    expect(json.sourceUrl).toBe('https://ted.europa.eu/de/notice/-/detail/700123-2026');
  });

  it('give the same record for single values with or without a list', () => {
    const json = tedJson(madeUpNotice(11, { publicationNumber: '1-2026' }));
    const bare = Object.fromEntries(
      Object.entries(json).map(([field, value]) => [
        field,
        Array.isArray(value) && value.length === 1 ? value[0] : value,
      ]),
    );
    expect(readTed({ ...bare, 'buyer-name': { deu: 'Stadt Musterhausen' } })).toEqual(
      readTed({ ...json, 'buyer-name': { deu: ['Stadt Musterhausen'] } }),
    );
  });

  it('show that they are cancelled', () => {
    const changes = { notice: '0b6d0000-0000-4000-8000-000000000001-01', reason: 'cancel' };
    expect(readTed(tedJson(madeUpNotice(12, { publicationNumber: '2-2026', changes })))).toMatchObject({
      isCancelled: true,
      isCorrection: true,
      changes: { noticeUuid: '0b6d0000-0000-4000-8000-000000000001', version: 1 },
    });
  });

  it.each([
    ['no number', { 'publication-number': null }, 'has no publication number.'],
    ['no day', { 'publication-date': 'gestern' }, 'has no publication date.'],
  ])('with %s are refused', (_, changes, reason) => {
    const json = { ...tedJson(madeUpNotice(13, { publicationNumber: '3-2026' })), ...changes };
    expect(() => readTed(json)).toThrow(reason);
  });

  it('are read as far as possible if fields have wrong types', () => {
    const nonsense = {
      'title-proc': 7,
      'notice-title': [],
      'buyer-name': 'x',
      'title-lot': null,
      links: 'none',
      'place-of-performance': {},
    };
    const json = { ...tedJson(madeUpNotice(14, { publicationNumber: '4-2026' })), ...nonsense };
    expect(readTed(json)).toMatchObject({ title: '7', nutsCodes: [], bundesland: null });
  });
});
