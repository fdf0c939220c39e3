import type { CloudInstance } from '@portal/client/interface';
import { addressOf } from '../shell/address.ts';

export type Light = CloudInstance['light'];

/** From the worst to the best. */
export const lights: readonly Light[] = ['red', 'yellow', 'grey', 'green'];

export const listPath = '/app/cloud-status';

export const cloudPath = (id: string): string => `${listPath}/${encodeURIComponent(id)}`;

/** What the list shows; part of the address. */
export interface CloudFilter {
  search: string;
  /** Empty for all. */
  lights: readonly Light[];
  /** Only clouds that the person has subscribed to. */
  isMine: boolean;
}

export function filterOf(query: Readonly<Record<string, string | undefined>>): CloudFilter {
  const wanted = query['light']?.split(',') ?? [];
  return {
    search: query['search'] ?? '',
    lights: lights.filter((light) => wanted.includes(light)),
    isMine: query['mine'] !== undefined,
  };
}

export const pathOf = ({ search, lights, isMine }: CloudFilter): string =>
  addressOf(listPath, { search, light: lights.join(','), mine: isMine ? '1' : '' });

export const isFiltered = (filter: CloudFilter): boolean => pathOf(filter) !== listPath;

/** The clouds that match, the worst first. The service lists them by name, and so they stay within a light. */
export function filterClouds(clouds: readonly CloudInstance[], filter: CloudFilter): CloudInstance[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = clouds.filter(
    (cloud) =>
      (filter.lights.length === 0 || filter.lights.includes(cloud.light)) &&
      (!filter.isMine || cloud.subscribed) &&
      (words.length === 0 || hasAll(cloud, words)),
  );
  return lights.flatMap((light) => found.filter((cloud) => cloud.light === light));
}

function hasAll({ customerName, statusUrl, productName, version }: CloudInstance, words: readonly string[]): boolean {
  const text = `${customerName} ${statusUrl} ${productName ?? ''} ${version ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
