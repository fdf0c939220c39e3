import type { FailureClass } from '../failure-class.ts';
import type { Row } from './loose.ts';

/** Seconds since 1970, as the products count. */
export type Epoch = number;

export const MINUTE_SEC = 60;
export const HOUR_SEC = 60 * MINUTE_SEC;
export const DAY_SEC = 24 * HOUR_SEC;

/** One part of what was asked: an answer, or why there is none. The class is null where the server is not to blame. */
export type Part<T> = { readAt: Epoch } & ({ data: T } | { failure: FailureClass | null; message: string });

export type ListPart = Part<readonly Row[]>;
export type RowPart = Part<Row>;

/** What a part holds; null when it could not be read. */
export const dataOf = <T>(part: Part<T> | undefined): T | null => (part && 'data' in part ? part.data : null);

/** Parts that are read now and then, by path; stored with the server, so that their times outlive a worker. */
export type KeptParts = Record<string, Part<unknown>>;
