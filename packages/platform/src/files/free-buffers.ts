import { bufferCollector } from '@portal/connectors/http/buffer-collector';

let free: ((bytes: number) => void) | undefined;

/** For the pieces of large files that are sent: fifty downloads at once would else leave a hundred megabytes of buffers lying about. */
export const freeBuffersBehind = (piece: string | Buffer): void => (free ??= bufferCollector())(piece.length);
