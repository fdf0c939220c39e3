import type { FailureClass } from '../failure-class.ts';
import type { Row } from './rows.ts';

/** Seconds since 1970, as the products count time. */
export type Epoch = number;

export const MINUTE_SEC = 60;
export const HOUR_SEC = 60 * MINUTE_SEC;
export const DAY_SEC = 24 * HOUR_SEC;

/** The answer to one question, or why there is none. `failure` is null if the server is not to blame. */
export type Answer<T> = { readAt: Epoch } & ({ data: T } | { failure: FailureClass | null; message: string });

export type ListAnswer = Answer<readonly Row[]>;
export type RowAnswer = Answer<Row>;

/** The data of an answer; null if it could not be read. */
export const dataOf = <T>(answer: Answer<T> | undefined): T | null => (answer && 'data' in answer ? answer.data : null);

/** Answers to follow-up questions by key. They are stored with the server, so that a new worker knows their age. */
export type CachedAnswers = Record<string, Answer<unknown>>;
