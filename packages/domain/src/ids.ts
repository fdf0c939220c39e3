import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';

/** UUIDv7: sorts by time of creation, so a primary key index grows at its end. */
export const newId = (): string => randomUUIDv7();

/** In lower-case, as the database writes it, however a client did: code may compare ids as text. */
export const Id = z.uuid().toLowerCase();

/** The id no record has. */
const noId = '00000000-0000-0000-0000-000000000000';

/** An id in a path: anything that is no UUID reads as the id of nothing, and so meets the same 404 as an unknown one. */
export const PathId = Id.catch(noId);
