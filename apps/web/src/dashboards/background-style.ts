import type { JSX } from 'preact';
import type { DashboardBackground } from '@portal/client/interface';
import { imageAddress } from './images.ts';

/** The style of an element that shows a background. It lies in a box of its own: blurred edges reach beyond it. Null if there is none. */
export function backgroundStyle(background: DashboardBackground): JSX.CSSProperties | null {
  switch (background.kind) {
    case 'none':
      return null;
    case 'color':
      return { backgroundColor: background.color };
    case 'gradient':
      return { backgroundImage: `linear-gradient(${background.angle}deg, ${background.from}, ${background.to})` };
    case 'image': {
      const { imageId, fit, dim, blur } = background;
      return {
        backgroundImage: `url("${imageAddress(imageId)}")`,
        backgroundPosition: 'center',
        ...(fit === 'tile' ? { backgroundRepeat: 'repeat' } : { backgroundRepeat: 'no-repeat', backgroundSize: fit }),
        filter: `brightness(${1 - dim / 100}) blur(${blur}px)`,
        // A blurred edge would be transparent.
        inset: `${-2 * blur}px`,
      };
    }
  }
}
