// The limit for bench desktop-download: Node's own server piping one file, nothing else.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';

const file = process.env['BENCH_FILE'] ?? '';
const { size } = await stat(file);
createServer((request, response) => {
  if (request.url === '/health') return void response.end('{"status":"ok"}');
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  createReadStream(file).pipe(response);
}).listen(Number(process.env['PORT']), '127.0.0.1');
