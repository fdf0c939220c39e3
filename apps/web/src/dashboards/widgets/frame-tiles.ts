import { EmbeddedPageTile } from './embedded-page-tile.tsx';
import { PictureFrameTile } from './picture-frame-tile.tsx';

export const frameTiles = { 'embedded-page': EmbeddedPageTile, 'picture-frame': PictureFrameTile };
