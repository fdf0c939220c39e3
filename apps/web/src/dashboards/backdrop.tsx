import type { DashboardBackground } from '@portal/client/interface';
import { me } from '../session.ts';
import css from './dashboard.module.css';

/** The background that the account chose. It stays while the page scrolls over it. */
export function Backdrop() {
  const background = me.value?.dashboardBackground;
  const style = background && styleOf(background);
  if (!style) return null;
  return (
    <div class={css.backdrop}>
      <div class={css.window}>
        <div class={css.picture} style={style} />
      </div>
    </div>
  );
}

function styleOf(background: DashboardBackground) {
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
        backgroundImage: `url("/dashboard/images/${encodeURIComponent(imageId)}")`,
        ...(fit === 'tile' ? { backgroundRepeat: 'repeat' } : { backgroundSize: fit }),
        filter: `brightness(${1 - dim / 100}) blur(${blur}px)`,
        // A blurred edge would be transparent.
        inset: `${-2 * blur}px`,
      };
    }
  }
}
