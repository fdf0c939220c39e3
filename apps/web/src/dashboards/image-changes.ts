import { useQuery } from '@tanstack/preact-query';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { me, setMe } from '../session.ts';
import { imagesQuery } from './images.ts';
import { maxImageBytes } from './picture-files.ts';
import { widgetsOf } from './queries.ts';
import { readPictureFrame } from './widgets/configs.ts';

export const useAddImage = () =>
  useMutation({
    mutationFn: async (image: File) => {
      // The service would refuse it, too, but only after minutes.
      if (image.size > maxImageBytes)
        throw new PortalError({ code: 'PAYLOAD_TOO_LARGE', message: 'The picture is too large.' }, { status: 413 });
      return portal.post('/dashboard/images', { body: { image } });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: imagesQuery.queryKey }),
  });

/** The service removes a deleted picture from the background and from all picture frames. */
export const useDeleteImage = () =>
  useMutation({
    mutationFn: (id: string) => portal.delete('/dashboard/images/{id}', { params: { path: { id } } }),
    onSuccess: (_, id) => {
      if (isBackground(id) && me.value) setMe({ ...me.value, dashboardBackground: { kind: 'none' } });
      return queryClient.invalidateQueries({ queryKey: ['dashboards'] });
    },
  });

/** Whether the picture is the background of the account's dashboards. */
export function isBackground(id: string): boolean {
  const background = me.value?.dashboardBackground;
  return background?.kind === 'image' && background.imageId === id;
}

/** The names of the dashboards that show the picture in a frame. */
export const useDashboardsWithFrame = (imageId: string) =>
  useQuery({
    queryKey: ['dashboards', 'frames', imageId],
    // Another window may have changed them.
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const tabs = await portal.get('/dashboard/tabs', { signal });
      const widgets = await Promise.all(
        tabs.map(({ id }) => queryClient.fetchQuery({ ...widgetsOf(id), staleTime: 0 })),
      );
      const shows = (index: number) =>
        widgets[index]?.some(
          ({ type, config }) => type === 'picture-frame' && readPictureFrame(config).imageIds.includes(imageId),
        );
      return tabs.filter((_, index) => shows(index)).map(({ name }) => name);
    },
  });
