// Program: serves a file with the number of bytes in its argument, and sends its address to the parent.
import { startHttpServer } from './http-server.ts';

const size = Number(process.argv[2]);
const chunk = Buffer.alloc(64 * 1024, 'a');
const { origin } = await startHttpServer((_request, response) => {
  let left = size;
  const more = () => {
    while (left > 0) {
      left -= chunk.length;
      if (!response.write(chunk)) return;
    }
    response.end();
  };
  response.setHeader('content-length', size);
  response.on('drain', more);
  more();
});
process.send?.(origin);
