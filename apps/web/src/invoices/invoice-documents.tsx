import { useQuery } from '@tanstack/preact-query';
import { Download, ExternalLink } from 'lucide';
import { useState } from 'preact/hooks';
import type { Invoice } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import users from '../accounts/users.module.css';
import { formatBytes } from '../language.ts';
import { portal, send } from '../portal.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Card, Section } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import s from './invoices.module.css';
import { texts } from './texts.ts';
import { decodeXml, readableXml } from './xml-text.ts';

type InvoiceFile = Invoice['files'][number];

const pdf = 'application/pdf';
const xml = 'application/xml';
/** Longer ones hold files that nobody reads as text. */
const longestXml = 2 * 1_024 * 1_024;

/** The files of an invoice: an XML as text, and what the browser can open. */
export function InvoiceDocuments({ invoice }: { invoice: Invoice }) {
  const t = texts.value;
  const { id, files, format } = invoice;
  if (files.length === 0) return <Card title={t.document}>{t.noDocument}</Card>;
  return (
    <Card title={files.length === 1 ? t.document : t.documents}>
      {files.map((file, index) => (
        <Section key={index} level={3} title={file.fileName}>
          <div class={users.buttons}>
            {file.type === pdf && <OpenPdf id={id} index={index} />}
            <LinkButton href={documentPath(id, index)} download={file.fileName} icon={Download}>
              {t.download}
            </LinkButton>
            <span class={profile.note}>{formatBytes(file.sizeBytes)}</span>
          </div>
          {file.type === pdf && (
            <p class={profile.note}>
              {t.pdfText} {index === 0 && format === 'zugferd' && t.zugferdText}
            </p>
          )}
          {file.type === xml && <XmlText id={id} index={index} file={file} />}
          {file.type !== pdf && file.type !== xml && <p class={profile.note}>{t.otherText}</p>}
        </Section>
      ))}
    </Card>
  );
}

const documentPath = (id: string, index: number) => `/invoices/${encodeURIComponent(id)}/document?file=${index}`;

const readDocument = (id: string, file: number, signal?: AbortSignal) =>
  portal.get('/invoices/{id}/document', {
    params: { path: { id }, query: { file } },
    parseAs: 'arrayBuffer',
    ...(signal && { signal }),
  });

/** How long a new tab has to read its file. */
const keptMs = 60_000;

function OpenPdf({ id, index }: { id: string; index: number }) {
  const t = texts.value;
  const [isBusy, setBusy] = useState(false);
  const open = async () => {
    // A browser only opens a tab at once after a click; the file follows.
    const tab = window.open('', '_blank');
    if (!tab) {
      showToast(t.openBlocked, { kind: 'error' });
      return;
    }
    tab.opener = null;
    setBusy(true);
    try {
      const bytes = await send(() => readDocument(id, index));
      // As a PDF, regardless of its content: nothing in it can become a page of the portal.
      const address = URL.createObjectURL(new Blob([bytes], { type: pdf }));
      setTimeout(() => URL.revokeObjectURL(address), keptMs);
      tab.location.href = address;
    } catch {
      tab.close();
      showToast(t.openFailed, { kind: 'error' });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={ExternalLink} busy={isBusy} onClick={() => void open()}>
      {t.openPdf}
    </Button>
  );
}

function XmlText({ id, index, file }: { id: string; index: number; file: InvoiceFile }) {
  const t = texts.value;
  const isShown = file.sizeBytes <= longestXml;
  const query = useQuery({
    queryKey: ['invoices', 'document', id, index],
    queryFn: async ({ signal }) => readableXml(decodeXml(new Uint8Array(await readDocument(id, index, signal)))),
    enabled: isShown,
    // A document never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isShown) return <p class={profile.note}>{t.xmlTooLarge(formatBytes(longestXml))}</p>;
  return (
    <QueryView query={query}>
      {({ text, isCut }) => (
        <>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard has to scroll it */}
          <pre class={s.xml} tabIndex={0} role="region" aria-label={t.xmlText(file.fileName)} dir="ltr">
            {text}
          </pre>
          {isCut && <p class={profile.note}>{t.xmlCut}</p>}
        </>
      )}
    </QueryView>
  );
}
