import type { InvoiceData } from '@portal/domain/invoices/invoices';
import {
  all,
  attributeOf,
  centsOf,
  currencyOf,
  dateOf,
  first,
  firstIban,
  type Node,
  textOf,
  withoutBlanks,
} from './fields.ts';

/** Element names in ZUGFeRD 1.0 (`old`) and later versions (`current`). */
const names = {
  old: {
    document: 'HeaderExchangedDocument',
    context: 'SpecifiedExchangedDocumentContext',
    transaction: 'SpecifiedSupplyChainTradeTransaction',
    agreement: 'ApplicableSupplyChainTradeAgreement',
    settlement: 'ApplicableSupplyChainTradeSettlement',
    sums: 'SpecifiedTradeSettlementMonetarySummation',
  },
  current: {
    document: 'ExchangedDocument',
    context: 'ExchangedDocumentContext',
    transaction: 'SupplyChainTradeTransaction',
    agreement: 'ApplicableHeaderTradeAgreement',
    settlement: 'ApplicableHeaderTradeSettlement',
    sums: 'SpecifiedTradeSettlementHeaderMonetarySummation',
  },
};
export type CiiNames = keyof typeof names;

/** Reads a Cross Industry Invoice. The comments name the terms of EN 16931 (BT-1 …). */
export function readCii(root: Node, version: CiiNames): InvoiceData {
  const name = names[version];
  const document = all(root, name.document)[0];
  const agreement = all(root, name.transaction, name.agreement)[0];
  const settlement = all(root, name.transaction, name.settlement)[0];
  const date = (node: Node, element: string) => dateOf(first(node, [element, 'DateTimeString'], [element, 'DateTime']));
  const vatId = all(agreement, 'SellerTradeParty', 'SpecifiedTaxRegistration', 'ID').find(
    (id) => attributeOf(id, 'schemeID')?.toUpperCase() === 'VA',
  );
  const accounts = all(
    settlement,
    'SpecifiedTradeSettlementPaymentMeans',
    'PayeePartyCreditorFinancialAccount',
    'IBANID',
  );
  const sum = (amount: string) => centsOf(first(settlement, [name.sums, amount]));
  return {
    number: first(document, ['ID']), // BT-1
    date: date(document, 'IssueDateTime'), // BT-2
    typeCode: first(document, ['TypeCode']), // BT-3
    currency: currencyOf(first(settlement, ['InvoiceCurrencyCode'])), // BT-5
    dueDate:
      all(settlement, 'SpecifiedTradePaymentTerms')
        .map((terms) => date(terms, 'DueDateDateTime'))
        .find((due) => due !== null) ?? null, // BT-9
    seller: first(agreement, ['SellerTradeParty', 'Name']), // BT-27
    sellerVatId: withoutBlanks(first(vatId, [])), // BT-31
    buyer: first(agreement, ['BuyerTradeParty', 'Name']), // BT-44
    iban: firstIban(accounts.map(textOf)), // BT-84
    totalCents: sum('GrandTotalAmount'), // BT-112
    payableCents: sum('DuePayableAmount'), // BT-115
  };
}

/** The specification that the document claims to follow (BT-24). */
export const ciiGuideline = (root: Node, version: CiiNames): string =>
  first(root, [names[version].context, 'GuidelineSpecifiedDocumentContextParameter', 'ID']) ?? '';
