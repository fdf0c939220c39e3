// Writes a sample of every mail the product sends, as HTML and text, for visual review.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleMails } from '@portal/testing/sample-mails';
import type { SampleMail } from '@portal/testing/sample-mails';

const folder = join(import.meta.dirname, '..', '.cache', 'mails');

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0) ?? 0};`);

const fileName = ({ kind, variant }: SampleMail): string => `${kind.replaceAll('/', '.')}.${variant}`;

const frame = (file: string): string =>
  `<iframe src="${file}" width="640" height="760"></iframe><iframe src="${file}" width="360" height="760"></iframe>`;

const section = (sample: SampleMail): string => {
  const name = fileName(sample);
  const { subject, text, html } = sample.mail;
  return `<section><h2>${escape(name)}</h2><p>${escape(subject)}</p>
${html === undefined ? '' : frame(`${name}.html`)}<pre>${escape(text)}</pre></section>`;
};

const index = (samples: readonly SampleMail[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Mails</title><style>
:root{color-scheme:light dark}body{font-family:system-ui,sans-serif;margin:24px}
iframe{border:1px solid #8884;margin-right:12px}pre{border:1px solid #8884;padding:12px;width:84ch;overflow-x:auto}
</style></head><body><h1>Mails</h1>
${samples.map(section).join('\n')}
</body></html>
`;

const samples = await sampleMails();
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const sample of samples) {
  const base = join(folder, fileName(sample));
  await writeFile(`${base}.txt`, `Subject: ${sample.mail.subject}\n\n${sample.mail.text}`);
  if (sample.mail.html !== undefined) {
    await writeFile(`${base}.html`, sample.mail.html);
  }
}
await writeFile(join(folder, 'index.html'), index(samples));
process.stdout.write(`${samples.length} mails written; open ${join(folder, 'index.html')}\n`);
