import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { WebAddress } from '../web-address.ts';

/** Per widget. */
export const maxFavorites = 200;
/** In all widgets together, because one answer lists them all. Each may take 5 kB. */
export const maxFavoritesOfAccount = 2_000;
/** In the answer of a whole dashboard, whose sixty widgets may have far more than people ever do. */
export const maxFavoritesOfTab = 1_000;
/** Largest icon, uploaded or found (512 KiB). */
export const iconMaxBytes = 512 * 1024;

const example = { title: 'Wetterdienst', url: 'https://wetter.example.org/berlin' };
const widgetId = '0198d3c6-3e4f-7051-8c6d-7e8f9a0b1c2d';

const iconUrl = WebAddress.nullable()
  .optional()
  .describe('Address of the icon; if left out, the icon is searched for on the page');

export const NewFavorite = z
  .object({ widgetId: Id, title: requiredLine(), url: WebAddress, iconUrl })
  .meta({ example: { widgetId, ...example } });
export type NewFavorite = z.output<typeof NewFavorite>;

export const FavoriteChange = z
  .object({
    title: requiredLine().optional(),
    url: WebAddress.optional(),
    iconUrl: iconUrl.describe('Null makes the portal search for the icon on the page again'),
  })
  .meta({ example });
export type FavoriteChange = z.output<typeof FavoriteChange>;

/** A favorite as shown to its owner. */
export const Favorite = z
  .object({
    id: Id,
    widgetId: Id,
    title: z.string(),
    url: z.string(),
    position: z.int().describe('Position within the widget, counted from 0 without gaps'),
    iconUrl: z
      .string()
      .nullable()
      .describe(
        'Address the icon comes from, either entered or found. Do not display this address; get the icon from `/favorites/{id}/icon`',
      ),
    hasUploadedIcon: z.boolean(),
    uploadedIconMime: z
      .string()
      .nullable()
      .describe('Detected from the content; the type named by the upload is ignored'),
    iconVersion: z.int().describe('Increases each time the icon or its address changes; 0 until the first icon'),
  })
  .meta({
    id: 'Favorite',
    example: {
      id: '0198d3c7-4f50-7162-8d7e-8f9a0b1c2d3e',
      widgetId,
      ...example,
      position: 0,
      iconUrl: 'https://wetter.example.org/apple-touch-icon.png',
      hasUploadedIcon: false,
      uploadedIconMime: null,
      iconVersion: 1,
    },
  });
export type Favorite = z.output<typeof Favorite>;
