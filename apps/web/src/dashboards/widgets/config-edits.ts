import type { Config } from './tile-props.ts';

/** The configuration with one key set, or left out if there is no value: then the default counts. */
export function withKey(config: Config, key: string, value: unknown): Config {
  const { [key]: _, ...rest } = config;
  return value === undefined ? rest : { ...rest, [key]: value };
}

/** What the API says about one key of the configuration, or about a part of its value. */
export const errorOf = (errors: Record<string, string>, key: string): string | undefined =>
  Object.entries(errors).find(([path]) => path === `config.${key}` || path.startsWith(`config.${key}.`))?.[1];

/** What a number field holds for a key: empty if the default counts. */
export const numberShown = (config: Config, key: string): string => {
  const value = config[key];
  return typeof value === 'number' ? String(value) : '';
};

/** The value of a number field; undefined if it is empty. */
export const numberTyped = (typed: string): number | undefined => (typed === '' ? undefined : Number(typed));
