// A program of its own, started for one file at a time: an SVG on standard input, the cleaned one on standard output.
// Exit code 65 says that the input is no SVG that may be kept.
import { writeFile } from 'node:fs/promises';
import { cleanSvg } from './clean-svg.ts';
import { notTaken } from './run-apart.ts';

// Short of memory, the kernel ends this process rather than the API (Linux alone knows this file).
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

const clean = cleanSvg(Buffer.concat(await process.stdin.toArray()));
if (clean === null) process.exitCode = notTaken;
else process.stdout.write(clean);
