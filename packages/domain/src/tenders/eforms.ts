import type { Place } from './laender.ts';
import { centsOf, currencyOf, type NoticeDraft, UnreadableNotice, webAddress } from './notice-draft.ts';
import {
  type ChangedNotice,
  type ContractNature,
  contractNatures,
  type NoticeDeadline,
  type NoticeForm,
  noticeForms,
} from './notice-record.ts';
import { dayOf, deadlineOf, startOfDay } from './notice-times.ts';
import { publicationNumber, uuidOf } from './portal-ids.ts';
import { all, first, textAt, wordsAt, type XmlElement } from './xml-element.ts';

/** The source of a document. */
export interface EformsOrigin {
  sourcePortal: string;
  /** The day of the export that contains it; null for other sources. */
  day: string | null;
}

const roots: ReadonlySet<string> = new Set(['ContractNotice', 'ContractAwardNotice', 'PriorInformationNotice']);
const extensionPath = ['UBLExtensions', 'UBLExtension', 'ExtensionContent', 'EformsExtension'];

/**
 * Reads an eForms notice: EU, German profile, or the German dialect below the EU threshold. The dialect has numbers as ids, no
 * organisations, the address of the buyer in its name, and midnight for "no time". Throws an UnreadableNotice.
 */
export function readEforms(root: XmlElement, { sourcePortal, day }: EformsOrigin): NoticeDraft {
  if (!roots.has(root.name))
    throw new UnreadableNotice(`is not a notice but a document called ${root.name.slice(0, 60)}.`);
  const isDialect = textAt(root, 'CustomizationID') === 'eforms-sdk-0.1';
  const extension = first(root, ...extensionPath);
  const language = textAt(root, 'NoticeLanguageCode');
  const project = first(root, 'ProcurementProject');
  const lots = all(root, 'ProcurementProjectLot').filter(isLot);
  const number = publicationNumber(textAt(extension, 'Publication', 'NoticePublicationID'));
  const id = identityOf(root);
  const links = [
    ...all(root, 'ProcurementProjectLot', 'TenderingTerms', ...documentPath),
    ...all(root, 'ProcurementProjectLot', 'TenderingTerms', 'TenderRecipientParty', 'EndpointID'),
  ]
    .slice(0, 50)
    .map(({ text }) => text.trim());
  // At TED, the publication number identifies a notice.
  const isNumbered = sourcePortal === 'ted' && number !== null;
  const buyer = isDialect ? dialectBuyer(root) : buyerOf(root, extension, language);
  const value = valueOf(project, lots, extension);
  const changes = changeOf(extension);
  const typeCode = first(root, 'NoticeTypeCode');
  const reasons = all(extension, 'Changes', 'ChangeReason', 'ReasonCode').map(({ text }) => text.trim());
  const publishedOn = dayOf(textAt(extension, 'Publication', 'PublicationDate')) ?? day ?? requestedDay(root);
  if (publishedOn === null) throw new UnreadableNotice('has no publication date.');

  return {
    sourcePortal,
    ...id,
    ...(isNumbered && { sourceNoticeId: number, noticeKey: number }),
    sourceUrl: sourceUrlOf(sourcePortal, id, number, links),
    sourceDay: day,
    publicationNumber: number,
    procedureUuid: uuidOf(textAt(root, 'ContractFolderID')),
    changes,
    isCorrection: changes !== null || typeCode?.attributes['listName'] === 'change',
    isCancelled: reasons.includes('cancel'),
    form: formOf(typeCode),
    noticeType: textAt(root, 'NoticeTypeCode'),
    subtype: textAt(extension, 'NoticeSubType', 'SubTypeCode'),
    procedureType: textAt(root, 'TenderingProcess', 'ProcedureCode'),
    nature: natureOf(
      textAt(project, 'ProcurementTypeCode') ??
        textAt(first(root, 'ProcurementProjectLot'), 'ProcurementProject', 'ProcurementTypeCode'),
    ),
    language,
    title: wordsAt(project, language, 'Name'),
    description: wordsAt(project, language, 'Description'),
    buyerName: buyer?.name ?? null,
    buyer: buyer?.place ?? null,
    cpv: cpvOf(project),
    places: placesOf(project),
    publishedAt: startOfDay(publishedOn),
    deadlines: lots.flatMap((lot) => deadlinesOf(lot, isDialect)),
    ...value,
    documentsUrl: textAt(root, 'ProcurementProjectLot', 'TenderingTerms', ...documentPath),
    lots: lots.map((lot) => {
      const lotProject = first(lot, 'ProcurementProject');
      return {
        id: textAt(lot, 'ID') ?? '',
        title: wordsAt(lotProject, language, 'Name'),
        description: wordsAt(lotProject, language, 'Description'),
        cpv: cpvOf(lotProject),
        places: placesOf(lotProject),
        ...estimateOf(lotProject),
      };
    }),
    links,
  };
}

const documentPath = ['CallForTendersDocumentReference', 'Attachment', 'ExternalReference', 'URI'];

/** Groups of lots are not lots. Planning notices call their lots parts; without a scheme name it is a lot. */
const isLot = (lot: XmlElement): boolean =>
  ['Lot', 'Part', undefined].includes(first(lot, 'ID')?.attributes['schemeName']);

function identityOf(root: XmlElement) {
  const ids = all(root, 'ID');
  const id = (ids.find(({ attributes }) => attributes['schemeName'] === 'notice-id') ?? ids[0])?.text.trim() ?? '';
  const version = /^0*(\d{1,6})$/.exec(textAt(root, 'VersionID') ?? '1')?.[1];
  const noticeUuid = uuidOf(id);
  const bundId = /^\d{1,18}$/.test(id) ? id : null;
  if (noticeUuid === null && bundId === null) throw new UnreadableNotice('has no id.');
  if (version === undefined) throw new UnreadableNotice('has a version that is not a number.');
  const noticeKey = noticeUuid ?? id;
  const shown = noticeUuid === null ? String(Number(version)) : version.padStart(2, '0');
  return { noticeUuid, bundId, noticeKey, noticeVersion: Number(version), sourceNoticeId: `${noticeKey}-${shown}` };
}

/**
 * The page of the notice. A notice with only a number as its id comes from another portal, which has the most complete page; without a link
 * to that portal, the page of the national service is used.
 */
function sourceUrlOf(
  sourcePortal: string,
  { noticeUuid, noticeKey }: { noticeUuid: string | null; noticeKey: string },
  number: string | null,
  links: readonly string[],
): string | null {
  if (sourcePortal === 'ted') return number === null ? null : `https://ted.europa.eu/de/notice/-/detail/${number}`;
  const original = noticeUuid === null ? links.map(webAddress).find((link) => link !== null) : null;
  return original ?? `https://oeffentlichevergabe.de/ui/de/search/details?noticeId=${noticeKey}`;
}

const requestedDay = (root: XmlElement): string | null =>
  dayOf(textAt(root, 'RequestedPublicationDate')) ?? dayOf(textAt(root, 'IssueDate'));

/** A correction has the form of the notice it corrects; if the list name is missing or `change`, the notice type gives the form. */
function formOf(code: XmlElement | null): NoticeForm | null {
  const listed = code?.attributes['listName']?.trim() ?? '';
  const form = noticeForms.find((each) => each === listed) ?? null;
  if (form !== null && form !== 'change') return form;
  return formOfNoticeType(code?.text.trim() ?? '') ?? form;
}

const formOfType: [type: RegExp, form: NoticeForm][] = [
  [/^(cn-|pin-cfc-|qu-sy|subco|cei)/, 'competition'],
  [/^can-modif/, 'cont-modif'],
  [/^(can-|pin-tran)/, 'result'],
  [/^pin-/, 'planning'],
  [/^pmc/, 'consultation'],
  [/^veat/, 'dir-awa-pre'],
  [/^compl/, 'completion'],
];

/** The form of a notice type (`cn-standard` → `competition`); null for an unknown type. */
export const formOfNoticeType = (type: string): NoticeForm | null =>
  formOfType.find(([pattern]) => pattern.test(type))?.[1] ?? null;

export const natureOf = (text: string | null): ContractNature | null =>
  contractNatures.find((nature) => nature === text?.trim()) ?? null;

function changeOf(extension: XmlElement | null): ChangedNotice | null {
  return changedNotice(textAt(extension, 'Changes', 'ChangedNoticeIdentifier'));
}

/** Parses `<uuid>-<version>`, or the publication number of an older notice. */
export function changedNotice(text: string | null): ChangedNotice | null {
  const number = publicationNumber(text);
  if (number !== null) return { noticeUuid: null, version: null, publicationNumber: number };
  const noticeUuid = uuidOf(text?.trim().slice(0, 36) ?? null);
  if (noticeUuid === null) return null;
  const version = /^-0*(\d{1,6})$/.exec(text?.trim().slice(36) ?? '')?.[1];
  return { noticeUuid, version: version === undefined ? null : Number(version), publicationNumber: null };
}

const deadlinePeriods = [
  ['tender', ['TenderSubmissionDeadlinePeriod']],
  ['participation', ['ParticipationRequestReceptionPeriod']],
  ['interest', [...extensionPath, 'InterestExpressionReceptionPeriod']],
] as const;

function deadlinesOf(lot: XmlElement, isDialect: boolean): NoticeDeadline[] {
  const process = first(lot, 'TenderingProcess');
  return deadlinePeriods.flatMap(([kind, path]) => {
    const period = first(process, ...path);
    const given = { date: textAt(period, 'EndDate'), time: textAt(period, 'EndTime') };
    return deadlineOf(given, { kind, lotId: textAt(lot, 'ID'), isMidnightADate: isDialect }) ?? [];
  });
}

const cpvOf = (project: XmlElement | null): string[] =>
  [
    ...all(project, 'MainCommodityClassification', 'ItemClassificationCode'),
    ...all(project, 'AdditionalCommodityClassification', 'ItemClassificationCode'),
  ]
    .filter(({ attributes }) => ['cpv', undefined].includes(attributes['listName']))
    .map(({ text }) => text);

const placesOf = (project: XmlElement | null): Place[] => all(project, 'RealizedLocation', 'Address').map(placeOf);

/** The dialect has the postcode in the name of the town. */
function placeOf(address: XmlElement): Place {
  const [, lead, town] = /^(\d{5})\s+(.*)$/.exec(textAt(address, 'CityName') ?? '') ?? [];
  return {
    nuts: nutsCode(textAt(address, 'CountrySubentityCode')),
    postcode: textAt(address, 'PostalZone') ?? lead ?? null,
    city: town ?? textAt(address, 'CityName'),
    country: textAt(address, 'Country', 'IdentificationCode'),
    anywhere: textAt(address, 'Region'),
  };
}

/** A NUTS code; `DEU` for the whole of Germany becomes `DE`. */
export const nutsCode = (text: string | null): string | null => {
  const code = text?.trim().toUpperCase() ?? '';
  if (code === 'DEU') return 'DE';
  return /^[A-Z]{2}[0-9A-Z]{0,3}$/.test(code) ? code : null;
};

interface Buyer {
  name: string | null;
  place: Place | null;
}

/** The organisation of the first buyer. */
function buyerOf(root: XmlElement, extension: XmlElement | null, language: string | null): Buyer | null {
  const reference = textAt(root, 'ContractingParty', 'Party', 'PartyIdentification', 'ID');
  const organizations = all(extension, 'Organizations', 'Organization');
  const companies = organizations.flatMap(({ children }) =>
    children.filter(({ name }) => name === 'Company' || name === 'TouchPoint'),
  );
  const company =
    companies.find((each) => textAt(each, 'PartyIdentification', 'ID') === reference) ??
    first(root, 'ContractingParty', 'Party');
  if (company === null) return null;
  const address = first(company, 'PostalAddress');
  return { name: wordsAt(company, language, 'PartyName', 'Name'), place: address && placeOf(address) };
}

/** In the dialect, name, street, town and numbers are one comma-separated text. */
function dialectBuyer(root: XmlElement): Buyer | null {
  const text = textAt(root, 'ContractingParty', 'Party', 'PartyName', 'Name');
  if (text === null) return null;
  const [name = '', ...rest] = text.split(',');
  const [, postcode = null, city = null] = /(?:^|,)\s*(\d{5})\s+([^,]+)/.exec(rest.join(',')) ?? [];
  const place = { nuts: null, postcode, city: city?.trim() ?? null, country: null, anywhere: null };
  return { name: name.trim(), place: city === null ? null : place };
}

interface Value {
  valueCents: number | null;
  currency: string | null;
}
const unknownValue: Value = { valueCents: null, currency: null };

function amountOf(element: XmlElement | null): Value {
  const valueCents = centsOf(element?.text ?? null);
  return valueCents === null
    ? unknownValue
    : { valueCents, currency: currencyOf(element?.attributes['currencyID'] ?? null) };
}

/** The estimated value of a project, or the maximum of its framework agreement. */
function estimateOf(project: XmlElement | null): Value {
  const total = first(project, 'RequestedTenderTotal');
  const estimate = amountOf(first(total, 'EstimatedOverallContractAmount'));
  return estimate.valueCents !== null ? estimate : amountOf(first(total, ...extensionPath, 'FrameworkMaximumAmount'));
}

/** The awarded value, else the estimated value, else the sum of the lots if every lot has one in the same currency. */
function valueOf(project: XmlElement | null, lots: XmlElement[], extension: XmlElement | null): Value {
  const candidates = [amountOf(first(extension, 'NoticeResult', 'TotalAmount')), estimateOf(project)];
  const known = candidates.find(({ valueCents }) => valueCents !== null);
  if (known) return known;
  const lotValues = lots.map((lot) => estimateOf(first(lot, 'ProcurementProject')));
  const currency = lotValues[0]?.currency ?? null;
  const isComplete =
    lotValues.length > 0 && lotValues.every((each) => each.valueCents !== null && each.currency === currency);
  const sum = lotValues.reduce((cents, each) => cents + (each.valueCents ?? 0), 0);
  return isComplete && Number.isSafeInteger(sum) ? { valueCents: sum, currency } : unknownValue;
}
