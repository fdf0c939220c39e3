// Previews of a canteen's list of 100,000 lines against csv-parse alone, and of a workbook of 20,000 rows against SheetJS alone
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { read } from 'xlsx';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { workbook } from '@portal/testing/workbook';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import {
  alternate,
  benchDatabase,
  benchSettings,
  during,
  median,
  percentile,
  report,
  startServer,
  stopAll,
} from './measure.ts';

// A small share shows that the program works.
const share = Number(process.env['BENCH_SHARE'] ?? 1);
const rounds = 15;
const lines = Math.round(100_000 * share);
const sheetRows = Math.round(20_000 * share);

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const list = Buffer.from(
  [
    'Personalnummer;Name;Datum;Kantine;Betrag',
    ...numbers(lines).map((n) => {
      const day = String(1 + (n % 30)).padStart(2, '0');
      const cents = String((n * 7) % 100).padStart(2, '0');
      return `${1_000 + (n % 900)};Käthe Müller ${n % 900};${day}.11.2026;Haus ${n % 7};${n % 40},${cents}`;
    }),
  ].join('\r\n'),
);
const book = workbook([
  ['Artikel', 'November 2026'],
  ...numbers(sheetRows).map((n) => [`Artikel ${n % 5_000}`, n % 2 === 0 ? n / 100 : `${n},50`]),
]);

interface Form {
  type: string;
  bytes: Buffer;
}

const timed = async (work: () => unknown): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

try {
  const { url, folder } = await benchDatabase();
  const settings = benchSettings(url, join(folder, 'data'));
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const user = await make.user({ role: 'ADMIN' });
  const session = await make.session(user);
  const tokens = openSessionTokens(readConfig(settings).sessionKeys);
  const token = tokens.issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 });
  await database.close();
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));

  /** A form as bytes, made before anything is timed. */
  async function formOf(file: Buffer, fields: Record<string, string> = {}): Promise<Form> {
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(file)]), 'list');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const encoded = new Response(form);
    return { type: encoded.headers.get('content-type') ?? '', bytes: Buffer.from(await encoded.arrayBuffer()) };
  }
  const cookie = `portal_session=${token}`;

  async function preview(kind: 'canteen' | 'merchandise', { type, bytes }: Form, rows: number): Promise<number> {
    const headers = { cookie, 'content-type': type, 'content-length': bytes.length };
    const startedAt = performance.now();
    const sending = request(`${api.url}/accounting/${kind}/preview`, { method: 'POST', headers });
    sending.end(bytes);
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = await answer.toArray();
    const took = performance.now() - startedAt;
    const text = Buffer.concat(chunks);
    if (answer.statusCode !== 200 || !text.includes(`{"row":${rows + 1},`)) {
      throw new Error(text.subarray(-500).toString());
    }
    return took;
  }

  const [canteen, merchandise] = [await formOf(list, { month: '2026-11' }), await formOf(book)];
  const measurements = {
    csv: () => preview('canteen', canteen, lines),
    bareCsv: () => timed(() => parse(list, { delimiter: ';' })),
    xlsx: () => preview('merchandise', merchandise, sheetRows),
    bareXlsx: () => timed(() => read(book)),
  };
  await alternate(3, measurements);
  const { csv, bareCsv, xlsx, bareXlsx } = await alternate(rounds, measurements);
  const goal = 'at most 2.0';
  report(`a preview of ${lines} lines of CSV`, { ours: median(csv), limit: median(bareCsv), unit: 'ms', goal });
  report(`a preview of ${sheetRows} rows of XLSX`, { ours: median(xlsx), limit: median(bareXlsx), unit: 'ms', goal });
  const several = async () => {
    for (let round = 0; round < rounds; round += 1) {
      await measurements.csv();
      await measurements.xlsx();
    }
  };
  // How long the API keeps a caller waiting who asks for nothing is how long its event loop stands still.
  const waits = await during(several(), `${api.url}/health`, cookie);
  console.log(`what the API kept others waiting, p99: ${percentile(waits, 0.99).toFixed(1)} ms (at most 50)`);
} finally {
  await stopAll();
}
