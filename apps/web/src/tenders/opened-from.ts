/** The list from which tenders are opened, so that people can go on to the next one and come back to the same place. */
export const openedFrom: {
  /** The address of the list; null before there was one. */
  address: string | null;
  ids: readonly string[];
  /** The tender that was shown last. */
  last: string | null;
} = { address: null, ids: [], last: null };
