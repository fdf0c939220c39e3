import type { Block, Row } from './blocks.ts';
import type { Frame } from './frame.ts';
import { markup, nothing } from './markup.ts';
import type { Markup } from './markup.ts';
import { isolated } from './safe-text.ts';

interface Page {
  frame: Frame;
  subject: string;
  preview: string | undefined;
  heading: string | undefined;
  body: readonly Block[];
}

const sans = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;';
const breakLongWords = 'overflow-wrap:anywhere;word-break:break-word;';
const bodyType = `${sans}${breakLongWords}font-size:16px;line-height:25px;color:#1f2937;`;
const smallType = `${sans}${breakLongWords}font-size:13px;line-height:20px;color:#5b6472;`;
const headingType = `${sans}${breakLongWords}font-size:24px;line-height:31px;font-weight:700;color:#111827;`;
const linkType = 'color:#1d4ed8;text-decoration:underline;word-break:break-all;';
const accent = '#2563eb';
const buttonType =
  `display:inline-block;padding:13px 26px;border-radius:8px;background:${accent};color:#ffffff;text-decoration:none;` +
  `mso-padding-alt:0;${sans}font-size:16px;line-height:22px;font-weight:600;`;
const plainTable = markup`role="presentation" cellpadding="0" cellspacing="0" border="0"`;

const darkRules = [
  '.page{background:#0f1217!important}',
  '.card{background:#191d24!important;border-color:#2c323c!important;border-top-color:#3b76f6!important}',
  '.ink{color:#e6e9ef!important}',
  '.soft{color:#a4adbb!important}',
  '.link{color:#8db4ff!important}',
  '.hint{background:#1f2733!important;border-color:#5b8cff!important}',
  '.cell{border-color:#2c323c!important}',
];

const smallScreenRules = [
  '.outer{padding:0!important}',
  '.card{border-left:0!important;border-right:0!important;border-radius:0!important}',
  '.inner{padding-left:20px!important;padding-right:20px!important}',
  '.label,.value{display:block!important;width:auto!important}',
  '.label{padding-bottom:0!important;border-bottom:0!important}',
  '.value{padding-top:0!important}',
];

/*
 * The inline styles are the light design, for clients that drop style elements. These styles add dark colours (Apple Mail, Thunderbird,
 * Outlook for Mac) and reduce the padding on small screens.
 */
const styles = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  'body{margin:0;padding:0;width:100%!important;-webkit-text-size-adjust:100%}',
  `@media (prefers-color-scheme:dark){${darkRules.join('')}}`,
  `@media (max-width:540px){${smallScreenRules.join('')}}`,
].join('\n');

/*
 * For attributes that some clients add: outlook.com and its apps in dark mode, iOS on dates it detects. A separate element, because
 * some clients drop a whole style element over one unknown selector.
 */
const clientStyles = [
  ...darkRules.map((rule) => `[data-ogsc] ${rule}`),
  'a[x-apple-data-detectors]{color:inherit!important;text-decoration:none!important}',
].join('\n');

const lines = (text: string): Markup[] =>
  text.split('\n').map((line, index) => (index === 0 ? markup`${line}` : markup`<br>${line}`));

const isWebUrl = (value: string): boolean => /^https?:\/\/\S+$/.test(value);

const link = (url: string): Markup =>
  markup`<a class="link" href="${url}" target="_blank" style="${linkType}">${url}</a>`;

/** A link if the text is only an address. */
const linked = (text: string): Markup | Markup[] => (isWebUrl(text) ? link(text) : lines(text));

const paragraph = (text: string): Markup => markup`
<p class="ink" dir="auto" style="margin:0 0 18px;${bodyType}">${linked(text)}</p>`;

const hintBox = (text: string): Markup => markup`
<table ${plainTable} width="100%" style="margin:0 0 20px;"><tr>
<td class="hint ink" dir="auto" style="padding:12px 16px;background:#eff4ff;border-left:3px solid ${accent};${bodyType}">${lines(text)}</td>
</tr></table>`;

/*
 * Outlook on Windows ignores padding on links. Spaces that only Outlook sees, stretched by mso properties, replace the padding, so the
 * whole button can be clicked everywhere.
 */
const buttonLink = (url: string, label: string, frame: Frame): Markup => markup`
<table ${plainTable} style="margin:6px 0 14px;"><tr>
<td bgcolor="${accent}" style="border-radius:8px;background:${accent};"><a href="${url}" target="_blank" style="${buttonType}"><!--[if mso]><i style="mso-font-width:200%;mso-text-raise:26px;" hidden>&emsp;</i><![endif]--><span style="color:#ffffff;mso-text-raise:13px;">${label}</span><!--[if mso]><i style="mso-font-width:200%;" hidden>&emsp;&#8203;</i><![endif]--></a></td>
</tr></table>
<p class="soft" style="margin:0 0 22px;${smallType}">${frame.buttonHelp}<br>${link(url)}</p>`;

const rowCells = (row: Row, isLast: boolean): Markup => {
  const edge = isLast ? '' : 'border-bottom:1px solid #e5e7eb;';
  return markup`
<tr>
<td class="label cell soft" width="30%" valign="top" style="padding:10px 12px 8px 0;${edge}${smallType}">${row.label}</td>
<td class="value cell ink" dir="auto" valign="top" style="padding:8px 0;${edge}${bodyType}">${isWebUrl(row.value) ? link(row.value) : row.value}</td>
</tr>`;
};

const rowTable = (entries: readonly Row[]): Markup => markup`
<table ${plainTable} width="100%" style="margin:0 0 20px;table-layout:fixed;">${entries.map((row, index) => rowCells(row, index === entries.length - 1))}
</table>`;

const entryFact = ({ label, value }: Row): Markup =>
  markup`<br><span class="soft" style="color:#5b6472;">${label}:</span> ${isWebUrl(value) ? link(value) : isolated(value)}`;

// One line per fact: table cells with inline styles would need four times as many bytes.
const entryMarkup = (title: string, facts: readonly Row[]): Markup => markup`
<p class="ink" dir="auto" style="margin:0 0 18px;${bodyType}"><strong>${title}</strong>${facts.map(entryFact)}</p>`;

const blockMarkup = (block: Block, frame: Frame): Markup => {
  switch (block.kind) {
    case 'paragraph':
      return paragraph(block.text);
    case 'hint':
      return hintBox(block.text);
    case 'button':
      return buttonLink(block.url, block.label, frame);
    case 'rows':
      return block.rows.length === 0 ? nothing : rowTable(block.rows);
    case 'entry':
      return entryMarkup(block.title, block.rows);
  }
};

const filler = Array.from({ length: 60 }, () => markup`&#847;&zwnj;&nbsp;`);

// Mail clients list the first text of a mail; the filler keeps the body out of that line.
const previewLine = (preview: string): Markup => markup`
<div style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all;">${preview}${filler}</div>`;

const headline = (heading: string): Markup => markup`
<h1 class="ink" dir="auto" style="margin:0 0 20px;${headingType}">${lines(heading)}</h1>`;

const footer = (frame: Frame): Markup => {
  const address = frame.serviceUrl === undefined ? nothing : markup`<br>${link(frame.serviceUrl)}`;
  return markup`<p class="soft" style="margin:0;${smallType}">${frame.notice}${address}</p>`;
};

const card = ({ frame, heading, body }: Page): Markup => markup`
<table ${plainTable} width="100%" style="table-layout:fixed;">
<tr><td class="inner soft" style="padding:24px 36px 0;${smallType}"><strong class="ink" style="color:#111827;">Portal</strong> · ${frame.tenantName}</td></tr>
<tr><td class="inner" style="padding:22px 36px 14px;">${heading === undefined ? nothing : headline(heading)}${body.map((block) => blockMarkup(block, frame))}
</td></tr>
</table>`;

/** A mail as HTML: one table layout of at most 600 px, without images, scripts or external resources. */
export const htmlPage = (page: Page): string =>
  markup`<!doctype html>
<html lang="${page.frame.language}" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="x-apple-disable-message-reformatting">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<title>${page.subject}</title>
<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
<style>
${styles}
</style>
<style>
${clientStyles}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f6;">${page.preview === undefined ? nothing : previewLine(page.preview)}
<table ${plainTable} class="page" width="100%" style="background:#f3f4f6;"><tr><td class="outer" align="center" style="padding:32px 12px;">
<!--[if mso]><table ${plainTable} width="600"><tr><td><![endif]-->
<table ${plainTable} width="100%" style="max-width:600px;table-layout:fixed;">
<tr><td class="card" style="background:#ffffff;border:1px solid #e5e7eb;border-top:4px solid ${accent};border-radius:12px;">${card(page)}
</td></tr>
<tr><td class="inner" style="padding:20px 36px 24px;">${footer(page.frame)}</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>
</html>
`.source;
