import { useQuery } from '@tanstack/preact-query';
import { portal } from '../portal.ts';

/** Address of one of the account's own pictures. */
export const imageAddress = (id: string): string => `/dashboard/images/${encodeURIComponent(id)}`;

export const imagesQuery = {
  queryKey: ['dashboards', 'images'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/dashboard/images', { signal }),
};

/** The account's own pictures, the oldest first. */
export const useImages = () => useQuery(imagesQuery);
