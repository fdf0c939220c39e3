import { me } from '../session.ts';
import { backgroundStyle } from './background-style.ts';
import css from './dashboard.module.css';

/** The background that the account chose. It stays while the page scrolls over it. */
export function Backdrop() {
  const background = me.value?.dashboardBackground;
  const style = background && backgroundStyle(background);
  if (!style) return null;
  return (
    <div class={css.backdrop}>
      <div class={css.window}>
        <div class={css.picture} style={style} />
      </div>
    </div>
  );
}
