// Downloads a file again and again for some seconds, for several people at once, each as fast as its line allows. Prints the bytes read.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const [url = '', cookie = '', ...numbers] = process.argv.slice(2);
const [people = 0, mbitPerSec = 0, seconds = 0] = numbers.map(Number);

/** People do not begin at the same instant. */
const begunWithinMs = 4_000;

setPriority(constants.priority.PRIORITY_LOW);
const until = Date.now() + seconds * 1_000;
const read = await Promise.all(
  Array.from({ length: people }, async (_, n) => {
    await pause((n * begunWithinMs) / people);
    let bytes = 0;
    while (Date.now() < until) {
      const more = await download();
      bytes += more;
    }
    return bytes;
  }),
);
console.log(read.reduce((sum, bytes) => sum + bytes, 0));

/** Reads an answer at the rate of one line. Returns its bytes. */
async function download(): Promise<number> {
  const [answer] = (await once(get(url, { headers: { cookie } }), 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`the download was answered with ${answer.statusCode}`);
  const startedAt = performance.now();
  let bytes = 0;
  for await (const part of answer) {
    bytes += (part as Buffer).length;
    const early = (bytes * 8) / (mbitPerSec * 1_000) - (performance.now() - startedAt);
    if (early > 1) await pause(early);
  }
  return bytes;
}
