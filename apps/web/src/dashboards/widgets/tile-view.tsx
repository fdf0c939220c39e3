import type { ComponentChildren } from 'preact';
import { PortalError } from '@portal/client/portal-error';
import { useErrorText } from '../../ui/error-text.ts';
import { QueryView } from '../../ui/states.tsx';
import { texts } from './tile-texts.ts';
import css from './tile.module.css';

interface TileViewProps<Data> {
  query: Parameters<typeof QueryView<Data>>[0]['query'];
  isEmpty?: (data: Data) => boolean;
  /** What to do if there is nothing to show. */
  empty: ComponentChildren;
  children: (data: Data) => ComponentChildren;
}

/** What a tile's query has. A module that is switched off or not open to the person any more leaves the tile with a quiet sentence. */
export function TileView<Data>({ query, isEmpty, empty, children }: TileViewProps<Data>) {
  const refusal = moduleRefusal(query.error);
  if (refusal) return <p class={css.quiet}>{texts.value[refusal]}</p>;
  return (
    <QueryView query={query} empty={isEmpty} emptyState={<p class={css.quiet}>{empty}</p>}>
      {children}
    </QueryView>
  );
}

function moduleRefusal(error: unknown): 'MODULE_DISABLED' | 'MODULE_ACCESS_DENIED' | null {
  if (!(error instanceof PortalError)) return null;
  return error.code === 'MODULE_DISABLED' || error.code === 'MODULE_ACCESS_DENIED' ? error.code : null;
}

/** The part of a tile that scrolls. `label` names it for those who reach it by keyboard, where nothing inside takes the focus. */
export function TileBody({ label, children }: { label?: string; children: ComponentChildren }) {
  // A region without links or buttons could otherwise not be scrolled by keyboard.
  const keyboard = label === undefined ? {} : { tabIndex: 0, role: 'group' as const, 'aria-label': label };
  return (
    <div class={css.tile} {...keyboard}>
      {children}
    </div>
  );
}

/** Rows that a tile draws of a list without an end. The most urgent come first. */
export const maxRows = 100;

/** How many rows are left out, if any. */
export const NotShown = ({ count }: { count: number }) =>
  count > 0 ? <p class={css.muted}>{texts.value.notShown(count)}</p> : null;

/** The words of a failed change. */
export function ErrorLine({ error }: { error: unknown }) {
  return <div role="alert">{error ? <ErrorWords error={error} /> : null}</div>;
}

function ErrorWords({ error }: { error: unknown }) {
  const { text } = useErrorText(error);
  return <p class={css.error}>{text}</p>;
}
