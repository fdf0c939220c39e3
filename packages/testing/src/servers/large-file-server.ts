// A program that sends as many bytes as it is told to whoever calls, and tells its parent where.
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
