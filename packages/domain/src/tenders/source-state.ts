/**
 * What is kept of a source between two looks at it: one row a source, written by ingestion and listed to people.
 * `ted`, `oeffentlichevergabe` and `bund` have one each, a feed one for its address, however many people registered it.
 */
export interface SourceState {
  key: string;
  /** What a feed is read from; null for the other sources, whose addresses are settings. */
  url: string | null;
  /** The last day read to its end; the next look starts three days before. Null before the first. */
  watermark: string | null;
  /** Byte for byte as the source sent them, kept only once their body is stored. */
  etag: string | null;
  lastModified: string | null;
  /** SHA-256 of the last body, for sources that send neither. */
  bodyHash: string | null;
  /** Looks in a row that failed. */
  failures: number;
  nextRunAt: string | null;
  lastRunAt: string | null;
  lastSuccessAt: string | null;
  /** What the last look came to, one sentence; null when it went well. */
  error: string | null;
  /** Notices the last look that went well brought that were not known. */
  newCount: number;
  /** The address a feed has moved to and how often in a row it said so: three times, and it is the address. */
  movedTo: string | null;
  movedCount: number;
  /** A feed that said it is gone (410) is not asked again. */
  isGone: boolean;
}
