import type { ComponentChildren } from 'preact';
import type { Invoice } from '@portal/client/interface';
import facts from '../accounts/facts.module.css';
import profile from '../accounts/profile.module.css';
import { Breakable } from '../ui/breakable.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { groupedIban, isValidIban } from './iban.ts';
import { Amount, DueDay, InvoiceDay, StateOf } from './invoice-parts.tsx';
import { isCredit, kindOf } from './invoice-words.ts';
import { texts } from './texts.ts';

/** All that was read from the document, and the mail that it came with. */
export function InvoiceFigures({ invoice }: { invoice: Invoice }) {
  const t = texts.value;
  const f = t.fields;
  const { number, date, dueDate, seller, sellerVatId, buyer, currency, totalCents, payableCents, iban } = invoice;
  const hasFigures = [number, date, seller, buyer, totalCents, iban].some((figure) => figure !== null);
  return (
    <div>
      <Card title={t.figures} actions={<StateOf invoice={{ ...invoice, error: null }} />}>
        {!hasFigures && <p>{t.noFigures}</p>}
        {isCredit(invoice) && <Status kind="info">{t.credit}</Status>}
        {hasFigures && (
          <dl class={facts.facts}>
            <Fact label={f.kind}>{kindOf(invoice) ?? t.invoice}</Fact>
            <Fact label={f.number}>{number}</Fact>
            <Fact label={f.date}>{date && <InvoiceDay day={date} />}</Fact>
            <Fact label={f.due}>{dueDate ? <DueDay invoice={invoice} /> : t.dueInText}</Fact>
            <Fact label={f.seller}>{seller}</Fact>
            <Fact label={f.vatId}>{sellerVatId}</Fact>
            <Fact label={f.buyer}>{buyer}</Fact>
            <Fact label={f.total}>{totalCents !== null && <Amount cents={totalCents} currency={currency} />}</Fact>
            <Fact label={f.payable}>
              {payableCents !== null && (
                <>
                  <strong>
                    <Amount cents={payableCents} currency={currency} />
                  </strong>
                  {totalCents !== null && totalCents !== payableCents && <div>{t.payableDiffers}</div>}
                </>
              )}
            </Fact>
            <Fact label={f.iban}>{iban && <Iban iban={iban} />}</Fact>
            <Fact label={f.format}>{t.formats[invoice.format]}</Fact>
          </dl>
        )}
      </Card>
      <Card title={t.mail}>
        <dl class={facts.facts}>
          <Fact label={f.received}>
            <Time value={invoice.receivedAt} />
          </Fact>
          <Fact label={f.sender}>{invoice.sender && <Breakable>{invoice.sender}</Breakable>}</Fact>
          <Fact label={f.subject}>{invoice.subject}</Fact>
        </dl>
      </Card>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  const isMissing = children === null || children === undefined || children === false || children === '';
  return (
    <div>
      <dt>{label}</dt>
      <dd dir="auto">{isMissing ? <span class={profile.note}>{texts.value.unknown}</span> : children}</dd>
    </div>
  );
}

function Iban({ iban }: { iban: string }) {
  const t = texts.value;
  return (
    <>
      <div>{groupedIban(iban)}</div>
      {!isValidIban(iban) && <Status kind="warning">{t.ibanWrong}</Status>}
      <CopyButton text={iban}>{t.copyIban}</CopyButton>
    </>
  );
}
