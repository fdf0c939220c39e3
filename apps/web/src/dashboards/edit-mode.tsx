import type { MutableRef } from 'preact/hooks';
import type { Editor, View } from './board.ts';
import { EditBar } from './edit-bar.tsx';
import { EditSession } from './edit-session.ts';
import { TileCorner, TileHead } from './tile-tools.tsx';

/** Edit mode of a page. The page keeps `view` current and applies the changes. */
export function createEditor(view: MutableRef<View | null>): Editor {
  const session = new EditSession(view);
  return {
    begin: (isAdding) => session.begin(isAdding),
    Bar: (props) => <EditBar session={session} {...props} />,
    TileHead: (props) => <TileHead session={session} {...props} />,
    TileCorner: (props) => <TileCorner session={session} {...props} />,
  };
}
