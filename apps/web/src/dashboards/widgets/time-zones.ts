/** The city in the name of a time zone: `America/New_York` → `New York`. */
export const cityOf = (timeZone: string): string => timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone;
