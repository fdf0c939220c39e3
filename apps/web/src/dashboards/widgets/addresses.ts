/** An address in its parts; null if it is none. */
export const urlOf = (address: string): URL | null => (URL.canParse(address) ? new URL(address) : null);

/** The host of an address without `www.`; the address itself if it has none. */
export const hostOf = (address: string): string => urlOf(address)?.hostname.replace(/^www\./, '') || address;
