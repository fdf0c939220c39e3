import { Pencil } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useMutation } from '../../mutation.ts';
import { isAway } from '../../portal.ts';
import { sessionState } from '../../session.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { type Autosave, openAutosave, type SaveState } from './autosave.ts';
import { readNotes } from './configs.ts';
import css from './notes.module.css';
import { saveConfig } from './save-config.ts';
import { texts } from './small-texts.ts';
import type { TileProps } from './tile-props.ts';
import { ErrorLine, TileBody } from './tile-view.tsx';
import tile from './tile.module.css';
import { partsOf } from './web-links.ts';

/** Characters that the service accepts. */
const maxLength = 10_000;

/** Plain text, edited in place. It saves itself after a pause and when the person leaves it. */
export function NotesTile({ id, config, isEditing }: TileProps) {
  const t = texts.value;
  const note = useAutosave(id, readNotes(config).text);
  const [isWriting, setWriting] = useState(false);
  const root = useRef<HTMLDivElement>(null);

  const finish = () => {
    note.flush();
    setWriting(false);
  };
  const finishByKey = () => {
    finish();
    // The button is there after the next drawing.
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[data-edit]')?.focus());
  };

  return (
    <div ref={root} class={css.note}>
      {isWriting && !isEditing ? (
        <textarea
          ref={focusEnd}
          class={css.text}
          aria-label={t.note}
          dir="auto"
          maxLength={maxLength}
          value={note.text}
          onInput={({ currentTarget }) => note.type(currentTarget.value)}
          onBlur={finish}
          onKeyDown={(event) => {
            if (event.key === 'Escape') finishByKey();
          }}
        />
      ) : (
        // The button is for everyone; a click on the text is a shortcut for the mouse.
        <div
          class={css.text}
          role="presentation"
          onClick={(event) => isPlainClick(event) && !isEditing && setWriting(true)}
        >
          <TileBody label={t.note}>
            <p dir="auto">
              {note.text === '' ? <span class={tile.muted}>{t.emptyNote}</span> : <LinkedText text={note.text} />}
            </p>
          </TileBody>
        </div>
      )}
      {/* A component is drawn again only if one of its properties differs, and the note stays the same object. */}
      <Foot state={note.state} failure={note.failure} length={note.text.length} onSave={note.flush}>
        {!isWriting && !isEditing && (
          <IconButton data-edit icon={Pencil} label={t.editNote} size="small" onClick={() => setWriting(true)} />
        )}
      </Foot>
    </div>
  );
}

function focusEnd(area: HTMLTextAreaElement | null): void {
  area?.focus();
  area?.setSelectionRange(area.value.length, area.value.length);
}

/** Neither on a link nor the end of a selection. */
const isPlainClick = ({ target }: Event): boolean =>
  !(target instanceof HTMLAnchorElement) && getSelection()?.isCollapsed !== false;

const LinkedText = ({ text }: { text: string }) => (
  <>
    {partsOf(text).map((part, n) =>
      part.href === undefined ? (
        part.text
      ) : (
        <a key={n} href={part.href} target="_blank" rel="noopener noreferrer">
          {part.text}
        </a>
      ),
    )}
  </>
);

interface FootProps {
  state: SaveState;
  failure: unknown;
  /** Characters of the text. */
  length: number;
  onSave: () => void;
  children: ComponentChildren;
}

function Foot({ state, failure, length, onSave, children }: FootProps) {
  const t = texts.value;
  return (
    <div class={css.foot}>
      {state === 'failed' ? (
        <>
          <Status kind="error">{t.notSaved}</Status>
          <ErrorLine error={failure} />
          <Button size="small" onClick={onSave}>
            {t.saveAgain}
          </Button>
        </>
      ) : (
        <span class={tile.muted}>
          {[length > 0.9 * maxLength && t.length(length, maxLength), t[state]].filter(Boolean).join(' · ')}
        </span>
      )}
      {children}
    </div>
  );
}

const pauseMs = 1_000;

function useAutosave(id: string, stored: string): Autosave {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const { mutateAsync } = useMutation({ mutationFn: (text: string) => saveConfig(id, { text }) });
  const note = useMemo(() => {
    const key = `portal.note.${id}`;
    return openAutosave({
      stored,
      pauseMs,
      drafts: {
        read: () => sessionStorage.getItem(key),
        write: (text) => sessionStorage.setItem(key, text),
        remove: () => sessionStorage.removeItem(key),
      },
      save: mutateAsync,
      onChange: () => redraw(undefined),
    });
  }, [id]);

  useEffect(() => note.adopt(stored), [note, stored]);

  useEffect(() => {
    const saveHidden = () => {
      if (document.visibilityState === 'hidden') note.flush();
    };
    document.addEventListener('visibilitychange', saveHidden);
    return () => {
      document.removeEventListener('visibilitychange', saveHidden);
      note.close();
    };
  }, [note]);

  // Signed in again, or the service is back.
  const canSave = sessionState.value === 'signedIn' && !isAway.value;
  useEffect(() => {
    if (canSave && note.state === 'failed') note.flush();
  }, [canSave]);

  return note;
}
