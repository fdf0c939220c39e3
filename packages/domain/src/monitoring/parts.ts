import type { FailureClass } from '../failure-class.ts';
import type { Row } from './loose.ts';

/** Seconds since 1970, as the products count. */
export type Epoch = number;

/** One part of what was asked: an answer, or why there is none. */
export type Part<T> = { readAt: Epoch } & ({ data: T } | { failure: FailureClass; message: string });

export type ListPart = Part<readonly Row[]>;
export type RowPart = Part<Row>;

/** What a part holds; null when it could not be read. */
export const dataOf = <T>(part: Part<T> | undefined): T | null => (part && 'data' in part ? part.data : null);

/** Parts that are read now and then, by path; stored with the server, so that their times outlive a worker. */
export type KeptParts = Record<string, Part<unknown>>;
