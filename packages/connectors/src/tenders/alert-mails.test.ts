import { describe, expect, it } from 'vitest';
import { readAlertMail } from '@portal/domain/tenders/alert-mail';
import { noticeOf } from '@portal/domain/tenders/notice-draft';
import { portalLinkIn } from '@portal/domain/tenders/portal-links';
import { alertMail, alertTable } from '@portal/testing/alert-mails';
import { noticeTools } from './notice-tools.ts';
import { readAlertMailOf } from './read-alert-mail.ts';

const read = async (mail: string | Uint8Array) =>
  readAlertMail(await readAlertMailOf(Buffer.from(mail)), 'mailbox:someone').map((draft) =>
    noticeOf(draft, noticeTools),
  );

describe('a link', () => {
  it.each([
    [
      'https://www.dtvp.de/Satellite/notice/CXP4YRTTZ5F/documents?user=4711&token=geheim#top',
      'cosinex:CXP4YRTTZ5F',
      'https://www.dtvp.de/Satellite/notice/CXP4YRTTZ5F',
    ],
    [
      'https://www.evergabe.nrw.de/VMPSatellite/notice/CXS0Y59YTL0M',
      'cosinex:CXS0Y59YTL0M',
      'https://www.evergabe.nrw.de/VMPSatellite/notice/CXS0Y59YTL0M',
    ],
    [
      'https://vergabe.example.de/NetServer/TenderingProcedureDetails?function=_Details&TenderOID=54321-NetTender-19a&uid=7',
      'netserver:54321-NetTender-19a',
      'https://vergabe.example.de/NetServer/TenderingProcedureDetails?function=_Details&TenderOID=54321-NetTender-19a',
    ],
    [
      'https://vergabe.example.de/NetServer/PublicationControllerServlet?function=Detail&TWOID=54321-Tender-0a',
      'netserver:54321-Tender-0a',
      'https://vergabe.example.de/NetServer/PublicationControllerServlet?function=Detail&TWOID=54321-Tender-0a',
    ],
    [
      'https://www.evergabe-online.de/tenderdetails.html?hash=abc&id=612345',
      'evergabe-online:612345',
      'https://www.evergabe-online.de/tenderdetails.html?id=612345',
    ],
    ['https://www.subreport.de/E12345678', 'subreport:E12345678', 'https://www.subreport.de/E12345678'],
    [
      'https://www.deutsche-evergabe.de/dashboards/dashboard_off/0b6d1f00-0000-4000-8000-00000000000a?email=a@b.de',
      'deutsche-evergabe:0b6d1f00-0000-4000-8000-00000000000a',
      'https://www.deutsche-evergabe.de/dashboards/dashboard_off/0b6d1f00-0000-4000-8000-00000000000a',
    ],
    [
      'https://www.meinauftrag.rib.de/public/DetailsByPlatformIdAndTenderId/platformId/2/tenderId/98765',
      'rib:2/tenderId/98765',
      'https://www.meinauftrag.rib.de/public/DetailsByPlatformIdAndTenderId/platformId/2/tenderId/98765',
    ],
    [
      'https://www.staatsanzeiger-eservices.de/besuJs/BekLanding4Bund?z_param=271234&key=geheim',
      'staatsanzeiger:271234',
      'https://www.staatsanzeiger-eservices.de/besuJs/BekLanding4Bund?z_param=271234',
    ],
    [
      'https://www.had.de/onlinesuche_freeeu.html?SHOWPUB=ABC-12',
      'had:ABC-12',
      'https://www.had.de/onlinesuche_freeeu.html?SHOWPUB=ABC-12',
    ],
    [
      'https://ted.europa.eu/en/notice/-/detail/373130-2026?utm_source=mail',
      'ted:373130-2026',
      'https://ted.europa.eu/de/notice/-/detail/373130-2026',
    ],
    [
      'https://oeffentlichevergabe.de/ui/de/search/details?noticeId=0b6d1f00-0000-4000-8000-00000000000a',
      'oeffentlichevergabe:0b6d1f00-0000-4000-8000-00000000000a',
      'https://oeffentlichevergabe.de/ui/de/search/details?noticeId=0b6d1f00-0000-4000-8000-00000000000a',
    ],
    [
      'https://www.service.bund.de/IMPORTE/Ausschreibungen/editor/2026/11/25601234.html?nn=4641482#x',
      'bund:25601234',
      'https://www.service.bund.de/IMPORTE/Ausschreibungen/editor/2026/11/25601234.html',
    ],
  ])('%s is recognized', (href, key, url) => expect(portalLinkIn(href)).toEqual({ key, url }));

  const target = 'https://www.dtvp.de/Satellite/notice/CXP4YRTTZ5F';
  it.each([
    `https://klick.example.com/r?id=77&url=${encodeURIComponent(`${target}?token=geheim`)}`,
    `https://eur01.safelinks.protection.outlook.com/?url=${encodeURIComponent(target)}&data=05%7C02%7Cada%40example.org`,
    `https://klick.example.com/CL0/${target.replaceAll('/', '%2F')}/1/0100018f`,
    `https://klick.example.com/x?u=${Buffer.from(target).toString('base64url')}`,
    `https://klick.example.com/x?u=${encodeURIComponent(encodeURIComponent(target))}`,
    `https://a.example/?q=${encodeURIComponent(`https://b.example/?q=${encodeURIComponent(target)}`)}`,
    'https://urldefense.proofpoint.com/v2/url?u=https-3A__www.dtvp.de_Satellite_notice_CXP4YRTTZ5F&d=DwMFaQ',
    `https://www.dtvp.de/Center/login?back=${encodeURIComponent('/Satellite/notice/CXP4YRTTZ5F')}`,
  ])('%s contains its target', (href) => expect(portalLinkIn(href)?.url).toBe(target));

  it.each([
    'https://www.dtvp.de/Center/unsubscribe?token=1',
    'https://evil.example/tenderdetails.html?id=1',
    'https://evil.example/?evergabe-online.de/tenderdetails.html?id=1',
    'https://evergabe-online.de.evil.example/tenderdetails.html?id=1',
    'https://ted.europa.eu.evil.example/en/notice/-/detail/373130-2026',
    'https://oeffentlichevergabe.de@evil.example/ui/de/search/details?noticeId=0b6d1f00-0000-4000-8000-00000000000a',
    'http://127.0.0.1/Satellite/notice/CXP4YRTTZ5F',
    'http://[::1]/Satellite/notice/CXP4YRTTZ5F',
    'http://localhost/Satellite/notice/CXP4YRTTZ5F',
    'https://www.dtvp.de:8443/Satellite/notice/CXP4YRTTZ5F',
    'javascript:alert(1)',
    'mailto:a@dtvp.de',
    'data:text/html,x',
    '',
    'https://',
  ])('%s is not a link to a notice', (href) => expect(portalLinkIn(href)).toBeNull());

  it('is searched only to a limited depth', () => {
    const within = (depth: number): string =>
      depth === 0 ? target : `https://a.example/?${`u=${encodeURIComponent(within(depth - 1))}&`.repeat(3)}`;
    expect(portalLinkIn(within(2))?.url).toBe(target);
    expect(portalLinkIn(within(6))).toBeNull();
    expect(portalLinkIn(`https://a.example/?${'u=https://a.example/&'.repeat(300)}u=${target}`)).toBeNull();
  });
});

describe('an alert mail', () => {
  it('gives a tender for each notice, without personal data of the recipient', async () => {
    const notices = await read(
      alertMail({
        html: `<p>Sehr geehrte Frau Ada Muster,<br>Ihre Kundennummer: 4711-0815</p>
<table>
<tr><td><a href="https://www.dtvp.de/Satellite/notice/CXP4AAAAAA1?token=geheim">Glas- und Unterhaltsreinigung Rathaus</a><br>
Vergabestelle: Stadt Musterhausen<br>Angebotsfrist: 18.12.2026, 11:00 Uhr<br>Erfüllungsort: 50667 Köln</td></tr>
<tr><td><b>Neubau einer Kindertagesstätte</b></td></tr>
</table>
<ul><li><b>Lieferung von Streusalz</b> – Auftraggeber: Landkreis Beispiel | Teilnahmefrist: 20.12.2026
<a href="https://klick.example.com/?u=https%3A%2F%2Fwww.evergabe-online.de%2Ftenderdetails.html%3Fid%3D612345%26uid%3D99">Zur Bekanntmachung</a>
<a href="https://www.evergabe-online.de/tenderdocuments.html?id=612345">Unterlagen</a></li></ul>
<p><a href="https://www.dtvp.de/abmelden?user=4711">Abmelden</a> <a href="https://facebook.example/">Folgen</a></p>`,
      }),
    );
    expect(notices).toMatchObject([
      {
        noticeKey: 'cosinex:CXP4AAAAAA1',
        title: 'Glas- und Unterhaltsreinigung Rathaus',
        sourceUrl: 'https://www.dtvp.de/Satellite/notice/CXP4AAAAAA1',
        buyerName: 'Stadt Musterhausen',
        region: '50667 Köln',
        bundesland: 'NW',
        deadlines: [{ at: '2026-12-18T10:00:00.000Z', isDateOnly: false }],
        portalIds: ['cosinex:CXP4AAAAAA1'],
        description: null,
        publishedAt: null,
      },
      {
        noticeKey: 'evergabe-online:612345',
        title: 'Lieferung von Streusalz',
        buyerName: 'Landkreis Beispiel',
        deadlines: [{ at: '2026-12-20T22:59:00.000Z', isDateOnly: true }],
        portalIds: ['evergabe-online:612345'],
      },
    ]);
    expect(JSON.stringify(notices)).not.toMatch(/geheim|4711|Muster,|Ada|uid=|token/);
  });

  it('with a table is read by its column labels', async () => {
    const notices = await read(alertMail({ html: alertTable(3) }));
    expect(notices).toMatchObject(
      [1, 2, 3].map((n) => ({
        noticeKey: `cosinex:CXP4TABLE0${n}`,
        title: `Sanierung der Grundschule ${n}`,
        buyerName: `Gemeinde ${n}`,
        deadlines: [{ at: `2026-12-1${n}T09:00:00.000Z` }],
      })),
    );
  });

  it('in plain text is read by paragraph', async () => {
    const notices = await read(
      alertMail({
        text: `Guten Tag Ada Muster,

1. Winterdienst 2026/2027
Vergabestelle: Stadt Winterberg
Abgabefrist: 01.12.2026 10:00
https://www.subreport.de/E12345678

Gerüstbauarbeiten Theater

<https://www.subreport.de/E87654321>

Kundennummer: 4711
https://www.subreport.de/E11112222

Ihr Team`,
      }),
    );
    expect(notices.map(({ title, buyerName, deadlines }) => [title, buyerName, deadlines[0]?.at ?? null])).toEqual([
      ['Winterdienst 2026/2027', 'Stadt Winterberg', '2026-12-01T09:00:00.000Z'],
      ['Gerüstbauarbeiten Theater', null, null],
      ['Bekanntmachung E11112222', null, null],
    ]);
  });

  it('about one notice takes the title from other paragraphs, and never from the greeting', async () => {
    const link = '<a href="https://www.dtvp.de/Satellite/notice/CXP4AAAAAA1">Details</a>';
    const [titled] = await read(
      alertMail({
        html: `<body><p>Sehr geehrte Frau Muster,</p><h2>Straßenbeleuchtung Nordstadt</h2><p>Vergabestelle: Stadtwerke</p><p>${link}</p></body>`,
      }),
    );
    expect(titled).toMatchObject({ title: 'Straßenbeleuchtung Nordstadt', buyerName: 'Stadtwerke' });
    const [bare] = await read(alertMail({ html: `<p><b>Hallo Ada Muster</b></p><p>${link}</p>` }));
    expect(bare?.title).toBe('Bekanntmachung CXP4AAAAAA1');
    const [addressed] = await read(
      alertMail({
        html: '<p><a href="https://www.subreport.de/E12345678">Für Ada Muster: Winterdienst</a></p>',
      }),
    );
    expect(addressed?.title).toBe('Bekanntmachung E12345678');
  });

  it('gives the same record when read twice or sent again as a reminder', async () => {
    const html = alertTable(1);
    const [one] = await read(alertMail({ html, date: 'Fri, 20 Nov 2026 10:00:00 +0100' }));
    const [other] = await read(alertMail({ html, date: 'Sat, 21 Nov 2026 10:00:00 +0100', subject: 'Erinnerung' }));
    expect(other).toEqual(one);
  });

  const link = 'https://www.subreport.de/E12345678';
  it.each([
    ['bytes that are not a mail', Buffer.from([0, 255, 254, 13, 10]), 0],
    ['an empty mail', '', 0],
    ['a truncated mail', alertMail({ html: alertTable(1) }).slice(0, -40), 1],
    ['a mail without its boundary', `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n${link}`, 0],
    ['a mail in an unknown charset', `Content-Type: text/plain; charset=klingon\n\n${link}`, 1],
    ['broken base64', 'Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n%%%!', 0],
    ['unclosed elements', alertMail({ html: '<div><tr><p>'.repeat(20_000) }), 0],
    ['unclosed links', alertMail({ html: `<a href="${link}">`.repeat(20_000) }), 1],
    ['more notices than the limit per mail', alertMail({ html: manyLinks(1_000) }), 200],
    ['nested parts', `${nested(500)}${link}`, 0],
  ])('%s does no harm', async (_name, mail, notices) => {
    expect(await read(mail).catch(() => [])).toHaveLength(notices);
  });
});

const manyLinks = (count: number): string =>
  Array.from(
    { length: count },
    (_, n) => `<p><a href="https://www.subreport.de/E${1e7 + n}">Los ${n} Reinigung</a></p>`,
  ).join('');

const nested = (depth: number): string =>
  Array.from({ length: depth }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`).join('');
