import { type AnswerOrder, readAnswer } from '@portal/domain/monitoring/answers';

/** Reads a large answer in a process of its own. As bytes, what is kept of it comes back without a long stop of the event loop. */
export const run = (order: AnswerOrder): Uint8Array => Buffer.from(JSON.stringify(readAnswer(order)));
