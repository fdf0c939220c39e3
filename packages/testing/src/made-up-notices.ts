import { createHash } from 'node:crypto';

/** An invented procurement, which the fake sources publish. */
export interface MadeUpNotice {
  /** Id of the notice; a number for a notice below the threshold. */
  id: string;
  version: number;
  procedureId: string;
  title: string;
  description: string;
  buyer: string;
  city: string;
  postcode: string;
  nuts: string;
  cpv: string[];
  /** `2026-12-18` */
  deadlineDay: string | null;
  /** `11:00:00` */
  deadlineTime: string | null;
  publishedOn: string;
  valueEuro: number | null;
  /** Its number in the European journal. */
  publicationNumber: string | null;
  /** The notice that this one changes (`<uuid>-01`), and the reason. */
  changes: { notice: string; reason: string } | null;
}

const works = [
  'Glasreinigung',
  'Unterhaltsreinigung',
  'Dachsanierung',
  'Lieferung von Schulmöbeln',
  'Wartung der Aufzüge',
  'Winterdienst',
];
const buildings = ['Rathaus', 'Grundschule am Anger', 'Feuerwache Nord', 'Stadtbad', 'Kreisarchiv', 'Bauhof'];
const towns = [
  ['Musterhausen', '50667', 'DEA23'],
  ['Beispielstadt', '80331', 'DE212'],
  ['Probedorf', '70173', 'DE111'],
  ['Neuheim an der Test', '04109', 'DED51'],
] as const;
const codes = ['90911000', '45261900', '39160000', '50750000', '90620000', '72000000'];

/** A UUID derived from a seed. */
export function uuidOfSeed(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const pick = <Value>(values: readonly Value[], n: number): Value => values[n % values.length] as Value;

/** The notice of a number, always the same, with the given changes. */
export function madeUpNotice(n: number, changes: Partial<MadeUpNotice> = {}): MadeUpNotice {
  const [city, postcode, nuts] = pick(towns, n);
  const title = `${pick(works, n)} ${pick(buildings, Math.floor(n / works.length))} ${n}`;
  return {
    id: uuidOfSeed(`notice ${n}`),
    version: 1,
    procedureId: uuidOfSeed(`procedure ${n}`),
    title,
    description: `${title}. Die Leistung umfasst alle Arbeiten nach Leistungsverzeichnis, einschließlich Nebenleistungen.`,
    buyer: `Stadt ${city}`,
    city,
    postcode,
    nuts,
    cpv: [pick(codes, n)],
    deadlineDay: '2099-12-18',
    deadlineTime: '11:00:00',
    publishedOn: '2026-11-19',
    valueEuro: n % 5 === 0 ? 10_000 + n : null,
    publicationNumber: null,
    changes: null,
    ...changes,
  };
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const ubl = 'urn:oasis:names:specification:ubl:schema:xsd';
const extensions = 'http://data.europa.eu/p27/eforms-ubl-extension';

/** The eForms XML of a notice above the threshold. `padding` makes it as long as real ones. */
export function eformsXml(notice: MadeUpNotice, { padding = 0 } = {}): string {
  const { changes, publicationNumber, valueEuro } = notice;
  const place = `<cac:RealizedLocation><cac:Address><cbc:CityName>${escaped(notice.city)}</cbc:CityName><cbc:PostalZone>${notice.postcode}</cbc:PostalZone><cbc:CountrySubentityCode listName="nuts-lvl3">${notice.nuts}</cbc:CountrySubentityCode><cac:Country><cbc:IdentificationCode listName="country">DEU</cbc:IdentificationCode></cac:Country></cac:Address></cac:RealizedLocation>`;
  const [main = '', ...others] = notice.cpv;
  const classified = [
    `<cac:MainCommodityClassification><cbc:ItemClassificationCode listName="cpv">${main}</cbc:ItemClassificationCode></cac:MainCommodityClassification>`,
    ...others.map(
      (code) =>
        `<cac:AdditionalCommodityClassification><cbc:ItemClassificationCode listName="cpv">${code}</cbc:ItemClassificationCode></cac:AdditionalCommodityClassification>`,
    ),
  ].join('');
  const terms = Array.from(
    { length: padding },
    (_, n) =>
      `<cac:TendererQualificationRequest><cac:SpecificTendererRequirement><cbc:TendererRequirementTypeCode listName="exclusion-ground">made-up-${n}</cbc:TendererRequirementTypeCode><cbc:Description languageID="DEU">Nachweis ${n} nach den Vergabeunterlagen, formlos und in deutscher Sprache.</cbc:Description></cac:SpecificTendererRequirement></cac:TendererQualificationRequest>`,
  ).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<ContractNotice xmlns="${ubl}:ContractNotice-2" xmlns:cac="${ubl}:CommonAggregateComponents-2" xmlns:cbc="${ubl}:CommonBasicComponents-2" xmlns:ext="${ubl}:CommonExtensionComponents-2" xmlns:efext="${extensions}s/1" xmlns:efac="${extensions}-aggregate-components/1" xmlns:efbc="${extensions}-basic-components/1">
<ext:UBLExtensions><ext:UBLExtension><ext:ExtensionContent><efext:EformsExtension>${
    changes === null
      ? ''
      : `<efac:Changes><efbc:ChangedNoticeIdentifier>${changes.notice}</efbc:ChangedNoticeIdentifier><efac:ChangeReason><cbc:ReasonCode listName="change-corrig-justification">${changes.reason}</cbc:ReasonCode></efac:ChangeReason></efac:Changes>`
  }<efac:NoticeSubType><cbc:SubTypeCode listName="notice-subtype">16</cbc:SubTypeCode></efac:NoticeSubType><efac:Organizations><efac:Organization><efac:Company><cac:PartyIdentification><cbc:ID schemeName="organization">ORG-0001</cbc:ID></cac:PartyIdentification><cac:PartyName><cbc:Name languageID="DEU">${escaped(notice.buyer)}</cbc:Name></cac:PartyName><cac:PostalAddress><cbc:CityName>${escaped(notice.city)}</cbc:CityName><cbc:PostalZone>${notice.postcode}</cbc:PostalZone><cbc:CountrySubentityCode listName="nuts-lvl3">${notice.nuts}</cbc:CountrySubentityCode></cac:PostalAddress></efac:Company></efac:Organization></efac:Organizations>${
    publicationNumber === null
      ? ''
      : `<efac:Publication><efbc:NoticePublicationID schemeName="ojs-notice-id">${publicationNumber.padStart(13, '0')}</efbc:NoticePublicationID></efac:Publication>`
  }</efext:EformsExtension></ext:ExtensionContent></ext:UBLExtension></ext:UBLExtensions>
<cbc:CustomizationID>eforms-sdk-1.13</cbc:CustomizationID><cbc:ID schemeName="notice-id">${notice.id}</cbc:ID><cbc:ContractFolderID>${notice.procedureId}</cbc:ContractFolderID><cbc:IssueDate>${notice.publishedOn}+01:00</cbc:IssueDate><cbc:VersionID>${String(notice.version).padStart(2, '0')}</cbc:VersionID><cbc:NoticeTypeCode listName="competition">cn-standard</cbc:NoticeTypeCode><cbc:NoticeLanguageCode>DEU</cbc:NoticeLanguageCode>
<cac:ContractingParty><cac:Party><cac:PartyIdentification><cbc:ID>ORG-0001</cbc:ID></cac:PartyIdentification></cac:Party></cac:ContractingParty><cac:TenderingTerms>${terms}</cac:TenderingTerms><cac:TenderingProcess><cbc:ProcedureCode listName="procurement-procedure-type">open</cbc:ProcedureCode></cac:TenderingProcess>
<cac:ProcurementProject><cbc:Name languageID="DEU">${escaped(notice.title)}</cbc:Name><cbc:Description languageID="DEU">${escaped(notice.description)}</cbc:Description><cbc:ProcurementTypeCode listName="contract-nature">services</cbc:ProcurementTypeCode>${
    valueEuro === null
      ? ''
      : `<cac:RequestedTenderTotal><cbc:EstimatedOverallContractAmount currencyID="EUR">${valueEuro}</cbc:EstimatedOverallContractAmount></cac:RequestedTenderTotal>`
  }${classified}${place}</cac:ProcurementProject>
<cac:ProcurementProjectLot><cbc:ID schemeName="Lot">LOT-0001</cbc:ID><cac:TenderingProcess>${
    notice.deadlineDay === null
      ? ''
      : `<cac:TenderSubmissionDeadlinePeriod><cbc:EndDate>${notice.deadlineDay}+01:00</cbc:EndDate>${notice.deadlineTime === null ? '' : `<cbc:EndTime>${notice.deadlineTime}+01:00</cbc:EndTime>`}</cac:TenderSubmissionDeadlinePeriod>`
  }</cac:TenderingProcess><cac:ProcurementProject><cbc:Name languageID="DEU">Los 1 ${escaped(notice.title)}</cbc:Name><cbc:Description languageID="DEU">${escaped(notice.description)}</cbc:Description>${classified}${place}</cac:ProcurementProject></cac:ProcurementProjectLot></ContractNotice>`;
}

/** The XML of a notice below the threshold: other prefixes, a number as id, no time of day. */
export function dialectXml(notice: MadeUpNotice): string {
  const place = `<ns5:RealizedLocation><ns5:Address><ns3:CityName>${notice.postcode} ${escaped(notice.city)}</ns3:CityName><ns3:CountrySubentityCode listName="nuts">${notice.nuts.slice(0, 3)}</ns3:CountrySubentityCode></ns5:Address></ns5:RealizedLocation>`;
  return `<ns9:ContractNotice xmlns:ns9="${ubl}:ContractNotice-2" xmlns:ns3="${ubl}:CommonBasicComponents-2" xmlns:ns5="${ubl}:CommonAggregateComponents-2"><ns3:CustomizationID>eforms-sdk-0.1</ns3:CustomizationID><ns3:ID>${notice.id}</ns3:ID><ns3:ContractFolderID/><ns3:VersionID>${notice.version}</ns3:VersionID><ns3:RequestedPublicationDate>${notice.publishedOn}+01:00</ns3:RequestedPublicationDate><ns3:NoticeTypeCode listName="${notice.version > 1 ? 'change' : 'competition'}">cn-standard</ns3:NoticeTypeCode><ns5:ContractingParty><ns5:Party><ns5:PartyName><ns3:Name>${escaped(notice.buyer)}, Marktplatz 1, ${notice.postcode} ${escaped(notice.city)}, Tel.: +49 000</ns3:Name></ns5:PartyName></ns5:Party></ns5:ContractingParty><ns5:TenderingProcess><ns3:ProcedureCode>de-open</ns3:ProcedureCode></ns5:TenderingProcess><ns5:ProcurementProject><ns3:Name>${escaped(notice.title)}</ns3:Name><ns3:Description>${escaped(notice.description)}</ns3:Description>${place}</ns5:ProcurementProject><ns5:ProcurementProjectLot><ns3:ID schemeName="Lot">LOT-0000</ns3:ID><ns5:TenderingProcess>${
    notice.deadlineDay === null
      ? ''
      : `<ns5:TenderSubmissionDeadlinePeriod><ns3:EndDate>${notice.deadlineDay}+01:00</ns3:EndDate><ns3:EndTime>00:00:00+01:00</ns3:EndTime></ns5:TenderSubmissionDeadlinePeriod>`
  }</ns5:TenderingProcess></ns5:ProcurementProjectLot></ns9:ContractNotice>`;
}

/** A notice in the search answer of the European journal. */
export const tedJson = (notice: MadeUpNotice): Record<string, unknown> => ({
  'publication-number': notice.publicationNumber,
  'publication-date': `${notice.publishedOn}+01:00`,
  'notice-identifier': notice.id,
  'notice-version': notice.version,
  'procedure-identifier': notice.procedureId,
  'notice-type': 'cn-standard',
  'notice-subtype': '16',
  'form-type': 'competition',
  'official-language': ['DEU'],
  'notice-title': { deu: `Deutschland – ${notice.title}`, eng: `Germany – ${notice.title}` },
  'title-proc': { deu: notice.title },
  'description-proc': { deu: [notice.description] },
  'identifier-lot': ['LOT-0001'],
  'title-lot': { deu: [`Los 1 ${notice.title}`] },
  'buyer-name': { deu: [notice.buyer] },
  'buyer-city': { deu: [notice.city] },
  'buyer-country': ['DEU'],
  'classification-cpv': notice.cpv,
  'place-of-performance': [notice.nuts, 'DEU'],
  ...(notice.deadlineDay !== null && { 'deadline-receipt-tender-date-lot': [`${notice.deadlineDay}+01:00`] }),
  ...(notice.deadlineTime !== null && { 'deadline-receipt-tender-time-lot': [`${notice.deadlineTime}+01:00`] }),
  'procedure-type': 'open',
  'contract-nature': ['services'],
  ...(notice.valueEuro !== null && { 'estimated-value-proc': notice.valueEuro, 'estimated-value-cur-proc': 'EUR' }),
  ...(notice.changes && {
    'change-notice-version-identifier': notice.changes.notice,
    'change-reason-code': notice.changes.reason,
  }),
});

/** A notice as an entry of the federal feed. */
export const bundItem = (notice: MadeUpNotice): string =>
  `<item><title>${escaped(notice.title)}</title><link>https://www.service.bund.de/IMPORTE/Ausschreibungen/beispiel/2026/11/${notice.id}.html#track</link><guid>${notice.id}</guid><pubDate>Thu, 19 Nov 2026 06:10:00 +0100</pubDate><description><![CDATA[Vergabestelle: <strong>${notice.buyer}</strong><br/>Angebotsfrist: <strong>${(notice.deadlineDay ?? '').split('-').toReversed().join('.')} 12:00</strong><br/>Erfüllungsort: <strong>${notice.postcode} ${notice.city}</strong>]]></description></item>`;

/** A feed of these entries. */
export const rssFeed = (items: string[], { ttl = 60 } = {}): string =>
  `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Beispiele</title><link>https://feeds.example.org/</link><ttl>${ttl}</ttl>${items.join('')}</channel></rss>`;
