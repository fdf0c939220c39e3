interface AlertParts {
  /** The HTML part; without it the mail is plain text. */
  html?: string;
  text?: string;
  subject?: string;
  date?: string;
  /** Size of an attachment. */
  attachedBytes?: number;
}

let mails = 0;

/** An alert mail of a tender portal to Ada Muster. */
export function alertMail({
  html,
  text = '',
  subject = 'Neue Ausschreibungen zu Ihrem Suchprofil',
  date = 'Fri, 20 Nov 2026 10:00:00 +0100',
  attachedBytes = 0,
}: AlertParts = {}): string {
  mails += 1;
  const head = [
    'From: Vergabeportal <noreply@portal.example>',
    'To: Ada Muster <ada@example.org>',
    `Subject: ${subject}`,
    `Date: ${date}`,
    `Message-ID: <alert-${mails}@portal.example>`,
    'MIME-Version: 1.0',
  ];
  const part = (type: string, content: string) => [
    `Content-Type: ${type}; charset=utf-8`,
    'Content-Transfer-Encoding: 8bit',
    '',
    content,
  ];
  const body = html === undefined ? part('text/plain', text) : part('text/html', html);
  if (attachedBytes === 0) return [...head, ...body, ''].join('\r\n');
  const attached = [
    'Content-Type: application/octet-stream',
    'Content-Disposition: attachment; filename="unterlagen.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    `${'QUFB'.repeat(19)}\r\n`.repeat(Math.ceil(attachedBytes / 78)),
  ];
  return [
    ...head,
    'Content-Type: multipart/mixed; boundary=whole',
    '',
    '--whole',
    ...body,
    '--whole',
    ...attached,
    '--whole--',
    '',
  ].join('\r\n');
}

/** A table with one row of labelled cells for each notice. */
export const alertTable = (count: number): string =>
  `<table>${Array.from(
    { length: count },
    (_, at) => `<tr><td><table>
<tr><td colspan="2"><a href="https://www.dtvp.de/Satellite/notice/CXP4TABLE0${at + 1}?uid=4711">Sanierung der Grundschule ${at + 1}</a></td></tr>
<tr><td>Vergabestelle</td><td>Gemeinde ${at + 1}</td></tr>
<tr><td>Angebotsfrist</td><td>1${at + 1}.12.2026 10:00</td></tr></table></td></tr>`,
  ).join('')}</table>`;

/** A mail about one notice of a portal; the number distinguishes the notices. */
export const alertAbout = (number: number, parts: AlertParts = {}): string =>
  alertMail({
    html: `<p>Guten Tag Ada Muster,</p><p><a href="https://www.subreport.de/E${10_000_000 + number}?token=geheim">Reinigungsleistungen Objekt ${number}</a><br>Vergabestelle: Stadt Musterhausen<br>Angebotsfrist: 18.12.2999, 11:00 Uhr</p>`,
    ...parts,
  });
