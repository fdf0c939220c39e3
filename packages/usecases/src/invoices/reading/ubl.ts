import type { InvoiceData } from '@portal/domain/invoices/invoices';
import { all, centsOf, currencyOf, dateOf, first, firstIban, type Node, textOf, withoutBlanks } from './fields.ts';

/** Reads a UBL invoice or credit note. The comments name the terms of EN 16931 (BT-1 …). */
export function readUbl(root: Node): InvoiceData {
  const party = (role: string) => all(root, role, 'Party')[0];
  const name = (role: string) => first(party(role), ['PartyLegalEntity', 'RegistrationName'], ['PartyName', 'Name']);
  // The first tax scheme may belong to the tax number.
  const taxScheme = all(party('AccountingSupplierParty'), 'PartyTaxScheme').find(
    (scheme) => first(scheme, ['TaxScheme', 'ID'])?.toUpperCase() === 'VAT',
  );
  const total = (amount: string) => centsOf(first(root, ['LegalMonetaryTotal', amount]));
  return {
    number: first(root, ['ID']), // BT-1
    date: dateOf(first(root, ['IssueDate'])), // BT-2
    typeCode: first(root, ['InvoiceTypeCode'], ['CreditNoteTypeCode']), // BT-3
    currency: currencyOf(first(root, ['DocumentCurrencyCode'])), // BT-5
    dueDate: dateOf(first(root, ['DueDate'], ['PaymentMeans', 'PaymentDueDate'])), // BT-9
    seller: name('AccountingSupplierParty'), // BT-27
    sellerVatId: withoutBlanks(first(taxScheme, ['CompanyID'])), // BT-31
    buyer: name('AccountingCustomerParty'), // BT-44
    iban: firstIban(all(root, 'PaymentMeans', 'PayeeFinancialAccount', 'ID').map(textOf)), // BT-84
    totalCents: total('TaxInclusiveAmount'), // BT-112
    payableCents: total('PayableAmount'), // BT-115
  };
}

/** The specification that the document claims to follow (BT-24). */
export const ublGuideline = (root: Node): string => first(root, ['CustomizationID']) ?? '';
