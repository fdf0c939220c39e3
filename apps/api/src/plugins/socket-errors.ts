import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorBody, errorBody, jsonType } from './error-body.ts';
import { malformed } from './errors.ts';

const bodiesByCode: Record<string, ErrorBody> = {
  HPE_HEADER_OVERFLOW: errorBody('HEADERS_TOO_LARGE'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: errorBody('PAYLOAD_TOO_LARGE'),
  ERR_HTTP_REQUEST_TIMEOUT: errorBody('REQUEST_TIMEOUT'),
};

/** Answers invalid and incomplete HTTP requests in the shape `ErrorBody` and closes the connection. */
export function socketErrorHandler(headers: Record<string, string>) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    const body = bodiesByCode[error.code ?? ''] ?? malformed;
    if (socket.writable) socket.write(rawAnswer(body, headers));
    socket.destroy(error);
  };
}

function rawAnswer(body: ErrorBody, headers: Record<string, string>): string {
  const payload = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'content-type': jsonType,
    'content-length': String(Buffer.byteLength(payload)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${body.statusCode} ${body.error}\r\n${lines.join('')}\r\n${payload}`;
}

/** Node answers an unknown `Expect` with an empty 417; this answer gives the reason. */
export function answerUnknownExpectations(server: Server, headers: Record<string, string>): void {
  const payload = JSON.stringify(errorBody('EXPECTATION_FAILED'));
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response
      .writeHead(417, { ...headers, 'content-type': jsonType, 'content-length': Buffer.byteLength(payload) })
      .end(payload);
  });
}
