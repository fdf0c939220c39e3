import { invoiceMail, mailWith } from '@portal/testing/invoices';
import { pdfOf, pdfStream } from '@portal/testing/pdf';
import { zipOf } from '@portal/testing/zip';

interface Line {
  what: string;
  count: number;
  unitCents: number;
  vatPercent: 7 | 19;
}

interface Bill {
  number: string;
  /** `2026-11-20` */
  date: string;
  dueDate: string;
  /** `380` an invoice, `381` a credit note. */
  typeCode?: '380' | '381';
  seller: string;
  vatId: string;
  iban: string;
  lines: Line[];
  prepaidCents?: number;
}

const buyer = 'Stadtwerke Musterhausen';
const bills = {
  xrechnung: {
    number: 'SB-4711',
    date: '2026-11-16',
    dueDate: '2026-12-16',
    seller: 'Muster Tiefbau GmbH',
    vatId: 'DE111111125',
    iban: 'DE02120300000000202051',
    lines: [
      { what: 'Erdarbeiten Leitungsgraben, Abschnitt 3', count: 48, unitCents: 8_450, vatPercent: 19 },
      { what: 'Oberfläche wiederherstellen', count: 36, unitCents: 11_200, vatPercent: 19 },
      { what: 'Absperrung und Beschilderung', count: 6, unitCents: 9_000, vatPercent: 19 },
    ],
    prepaidCents: 250_000,
  },
  cii: {
    number: '2026/0815',
    date: '2026-11-12',
    dueDate: '2026-11-26',
    seller: 'Entwurf Fachverlag KG',
    vatId: 'DE222222223',
    iban: 'DE02500105170137075030',
    lines: [
      { what: 'Handbuch Netzbetrieb, 4. Auflage', count: 5, unitCents: 6_900, vatPercent: 7 },
      { what: 'Online-Zugang, 12 Monate', count: 1, unitCents: 24_000, vatPercent: 19 },
    ],
  },
  zugferd: {
    number: 'KA-20931',
    date: '2026-11-18',
    dueDate: '2026-12-02',
    seller: 'Kantinenservice Beispiel e. K.',
    vatId: 'DE333333331',
    iban: 'DE02300209000106531065',
    lines: [
      { what: 'Mittagessen November', count: 412, unitCents: 640, vatPercent: 7 },
      { what: 'Getränke Sitzungsdienst', count: 9, unitCents: 2_150, vatPercent: 19 },
    ],
  },
  credit: {
    number: 'G-1188',
    date: '2026-11-19',
    dueDate: '2026-12-03',
    typeCode: '381',
    seller: 'Beispiel Bürobedarf GmbH',
    vatId: 'DE123456789',
    iban: 'DE02200505501015871393',
    lines: [{ what: 'Rückgabe Toner, zwei Kartons', count: 2, unitCents: 7_900, vatPercent: 19 }],
  },
} satisfies Record<string, Bill>;

/** Mails with invoices in every format and state. All sellers are invented, and the IBANs are those of examples. */
export function invoiceMails(): Buffer[] {
  const sellers = ['Beispiel Bürobedarf GmbH', 'Muster Elektro KG', 'Probe Reinigung GmbH', 'Vorlage Druck OHG'];
  const { xrechnung, cii, zugferd, credit } = bills;
  return [
    ...sellers.map((seller, n) =>
      invoiceMail(
        { number: `R-2026-${100 + n}`, seller, total: `${119 * (n + 1)}.00` },
        { subject: `Rechnung R-2026-${100 + n}`, messageId: `<demo-${n}@lieferant.example>` },
      ),
    ),
    // It repeats the first invoice.
    invoiceMail(
      { number: 'R-2026-100', seller: sellers[0] ?? '', total: '119.00', note: 'Zweitschrift' },
      { subject: 'Zweitschrift', messageId: '<demo-again@lieferant.example>' },
    ),
    // It has no valid document.
    mailWith({
      subject: 'Rechnung folgt',
      messageId: '<demo-broken@lieferant.example>',
      attachments: [{ name: 'rechnung.xml', type: 'application/xml', bytes: '<Invoice' }],
    }),
    mailAbout(xrechnung, 'xrechnung', [
      { name: `${xrechnung.number}.xml`, type: 'application/xml', bytes: ublOf(xrechnung) },
      { name: `${xrechnung.number}.pdf`, type: 'application/pdf', bytes: pageOf(xrechnung) },
    ]),
    mailAbout(cii, 'cii', [{ name: 'rechnung-2026-0815.xml', type: 'application/xml', bytes: ciiOf(cii) }]),
    mailAbout(zugferd, 'zugferd', [
      { name: `${zugferd.number}.pdf`, type: 'application/pdf', bytes: pageOf(zugferd, ciiOf(zugferd)) },
    ]),
    mailAbout(credit, 'credit', [{ name: `${credit.number}.xml`, type: 'application/xml', bytes: ublOf(credit) }]),
    mailWith({
      from: 'buero@probe-reinigung.example',
      subject: 'Rechnung als Scan',
      messageId: '<demo-scan@lieferant.example>',
      date: 'Thu, 19 Nov 2026 08:12:00 +0100',
      attachments: [
        {
          name: 'Scan_0042.pdf',
          type: 'application/pdf',
          bytes: textPage(['Probe Reinigung GmbH', '', 'Rechnung 42', 'Glasreinigung Verwaltung', 'Gesamt 357,00 EUR']),
        },
      ],
    }),
    mailWith({
      from: 'archiv@lieferant.example',
      subject: 'Rechnungen gesammelt',
      messageId: '<demo-archive@lieferant.example>',
      attachments: [
        {
          name: 'rechnungen.zip',
          type: 'application/zip',
          bytes: zipOf([{ name: 'rechnung.txt', bytes: Buffer.from('Rechnung 7') }]),
        },
      ],
    }),
  ];
}

const mailAbout = (
  { number, typeCode }: Bill,
  id: string,
  attachments: { name: string; type: string; bytes: string | Uint8Array }[],
): Buffer =>
  mailWith({
    subject: `${typeCode === '381' ? 'Gutschrift' : 'Rechnung'} ${number}`,
    messageId: `<demo-${id}@lieferant.example>`,
    attachments,
  });

interface Totals {
  netCents: number;
  grossCents: number;
  payableCents: number;
  rates: { percent: number; netCents: number; taxCents: number }[];
}

function totalsOf({ lines, prepaidCents = 0 }: Bill): Totals {
  const netOf = (some: Line[]) => some.reduce((sum, { count, unitCents }) => sum + count * unitCents, 0);
  const rates = [...new Set(lines.map(({ vatPercent }) => vatPercent))].map((percent) => {
    const netCents = netOf(lines.filter(({ vatPercent }) => vatPercent === percent));
    return { percent, netCents, taxCents: Math.round((netCents * percent) / 100) };
  });
  const netCents = netOf(lines);
  const grossCents = netCents + rates.reduce((sum, { taxCents }) => sum + taxCents, 0);
  return { netCents, grossCents, payableCents: grossCents - prepaidCents, rates };
}

const euro = (cents: number): string => (cents / 100).toFixed(2);
const amount = (name: string, cents: number): string => `<cbc:${name} currencyID="EUR">${euro(cents)}</cbc:${name}>`;

/** The bill as XRechnung in UBL. */
function ublOf(bill: Bill): string {
  const { netCents, grossCents, payableCents, rates } = totalsOf(bill);
  const isCredit = bill.typeCode === '381';
  const [root, line, quantity] = isCredit
    ? ['CreditNote', 'CreditNoteLine', 'CreditedQuantity']
    : ['Invoice', 'InvoiceLine', 'InvoicedQuantity'];
  const party = (name: string, vatId: string) =>
    `<cac:Party>${vatId && `<cac:PartyTaxScheme><cbc:CompanyID>${vatId}</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>`}<cac:PartyLegalEntity><cbc:RegistrationName>${name}</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<${root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:${root}-2" xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2" xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:CustomizationID>urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0</cbc:CustomizationID>
  <cbc:ID>${bill.number}</cbc:ID>
  <cbc:IssueDate>${bill.date}</cbc:IssueDate>
  ${isCredit ? '<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>' : `<cbc:DueDate>${bill.dueDate}</cbc:DueDate>\n  <cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>`}
  <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
  <cac:AccountingSupplierParty>${party(bill.seller, bill.vatId)}</cac:AccountingSupplierParty>
  <cac:AccountingCustomerParty>${party(buyer, '')}</cac:AccountingCustomerParty>
  <cac:PaymentMeans><cbc:PaymentMeansCode>58</cbc:PaymentMeansCode>${isCredit ? `<cbc:PaymentDueDate>${bill.dueDate}</cbc:PaymentDueDate>` : ''}<cac:PayeeFinancialAccount><cbc:ID>${bill.iban}</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>
  <cac:TaxTotal>${amount('TaxAmount', grossCents - netCents)}${rates
    .map(
      ({ percent, netCents: net, taxCents }) =>
        `<cac:TaxSubtotal>${amount('TaxableAmount', net)}${amount('TaxAmount', taxCents)}<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>${percent}</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>`,
    )
    .join('')}</cac:TaxTotal>
  <cac:LegalMonetaryTotal>${amount('LineExtensionAmount', netCents)}${amount('TaxExclusiveAmount', netCents)}${amount('TaxInclusiveAmount', grossCents)}${amount('PrepaidAmount', grossCents - payableCents)}${amount('PayableAmount', payableCents)}</cac:LegalMonetaryTotal>
${bill.lines
  .map(
    ({ what, count, unitCents, vatPercent }, n) =>
      `  <cac:${line}><cbc:ID>${n + 1}</cbc:ID><cbc:${quantity} unitCode="C62">${count}</cbc:${quantity}>${amount('LineExtensionAmount', count * unitCents)}<cac:Item><cbc:Name>${what}</cbc:Name><cac:ClassifiedTaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>${vatPercent}</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:ClassifiedTaxCategory></cac:Item><cac:Price>${amount('PriceAmount', unitCents)}</cac:Price></cac:${line}>`,
  )
  .join('\n')}
</${root}>
`;
}

/** The bill as Cross Industry Invoice. */
function ciiOf(bill: Bill): string {
  const { netCents, grossCents, payableCents, rates } = totalsOf(bill);
  const day = (date: string) => `<udt:DateTimeString format="102">${date.replaceAll('-', '')}</udt:DateTimeString>`;
  const tax = (inner: string, percent: number) =>
    `<ram:ApplicableTradeTax>${inner}<ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>${percent}</ram:RateApplicablePercent></ram:ApplicableTradeTax>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100" xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
  <rsm:ExchangedDocumentContext><ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>urn:cen.eu:en16931:2017</ram:ID></ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>
  <rsm:ExchangedDocument><ram:ID>${bill.number}</ram:ID><ram:TypeCode>${bill.typeCode ?? '380'}</ram:TypeCode><ram:IssueDateTime>${day(bill.date)}</ram:IssueDateTime></rsm:ExchangedDocument>
  <rsm:SupplyChainTradeTransaction>
${bill.lines
  .map(
    ({ what, count, unitCents, vatPercent }, n) =>
      `    <ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument><ram:LineID>${n + 1}</ram:LineID></ram:AssociatedDocumentLineDocument><ram:SpecifiedTradeProduct><ram:Name>${what}</ram:Name></ram:SpecifiedTradeProduct><ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>${euro(unitCents)}</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement><ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">${count}</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery><ram:SpecifiedLineTradeSettlement>${tax('', vatPercent)}<ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>${euro(count * unitCents)}</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement></ram:IncludedSupplyChainTradeLineItem>`,
  )
  .join('\n')}
    <ram:ApplicableHeaderTradeAgreement><ram:SellerTradeParty><ram:Name>${bill.seller}</ram:Name><ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">${bill.vatId}</ram:ID></ram:SpecifiedTaxRegistration></ram:SellerTradeParty><ram:BuyerTradeParty><ram:Name>${buyer}</ram:Name></ram:BuyerTradeParty></ram:ApplicableHeaderTradeAgreement>
    <ram:ApplicableHeaderTradeDelivery/>
    <ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode><ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>58</ram:TypeCode><ram:PayeePartyCreditorFinancialAccount><ram:IBANID>${bill.iban}</ram:IBANID></ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans>${rates
      .map(({ percent, netCents: net, taxCents }) =>
        tax(
          `<ram:CalculatedAmount>${euro(taxCents)}</ram:CalculatedAmount><ram:BasisAmount>${euro(net)}</ram:BasisAmount>`,
          percent,
        ),
      )
      .join(
        '',
      )}<ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime>${day(bill.dueDate)}</ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms><ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:LineTotalAmount>${euro(netCents)}</ram:LineTotalAmount><ram:TaxBasisTotalAmount>${euro(netCents)}</ram:TaxBasisTotalAmount><ram:TaxTotalAmount currencyID="EUR">${euro(grossCents - netCents)}</ram:TaxTotalAmount><ram:GrandTotalAmount>${euro(grossCents)}</ram:GrandTotalAmount><ram:DuePayableAmount>${euro(payableCents)}</ram:DuePayableAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>
  </rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>
`;
}

/** The bill as a page, with its XML inside if there is one. */
function pageOf(bill: Bill, xml?: string): Buffer {
  const { netCents, grossCents, payableCents, rates } = totalsOf(bill);
  const german = (cents: number) => `${euro(cents).replace('.', ',')} EUR`;
  return textPage(
    [
      bill.seller,
      '',
      buyer,
      '',
      `Rechnung ${bill.number} vom ${bill.date.split('-').toReversed().join('.')}`,
      '',
      ...bill.lines.map(({ what, count, unitCents }) => `${count} x ${what}: ${german(count * unitCents)}`),
      '',
      `Netto ${german(netCents)}`,
      ...rates.map(({ percent, taxCents }) => `Umsatzsteuer ${percent} %: ${german(taxCents)}`),
      `Gesamt ${german(grossCents)}`,
      `Zu zahlen ${german(payableCents)} bis ${bill.dueDate.split('-').toReversed().join('.')}`,
      `IBAN ${bill.iban}`,
    ],
    xml,
  );
}

/** A PDF of one page with these lines. */
function textPage(lines: string[], xml?: string): Buffer {
  const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj T*`).join('\n');
  const content = Buffer.from(`BT /F1 11 Tf 16 TL 60 780 Td\n${shown}\nET`, 'latin1');
  const file = 'factur-x.xml';
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${xml === undefined ? '' : `/Names << /EmbeddedFiles << /Names [(${file}) 6 0 R] >> >>`} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    pdfStream(content),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...(xml === undefined
      ? []
      : [`<< /Type /Filespec /F (${file}) /UF (${file}) /EF << /F 7 0 R >> >>`, pdfStream(Buffer.from(xml))]),
  ]);
}
