/** `idle` until the text changes. */
export type SaveState = 'idle' | 'saved' | 'typing' | 'saving' | 'failed';

interface Drafts {
  read: () => string | null;
  write: (text: string) => void;
  remove: () => void;
}

interface Options {
  /** The text as stored by the service. */
  stored: string;
  drafts: Drafts;
  save: (text: string) => Promise<unknown>;
  /** Milliseconds without a change after which the text is saved. */
  pauseMs: number;
  onChange: () => void;
}

export type Autosave = ReturnType<typeof openAutosave>;

/**
 * A text that saves itself. What the service has not confirmed is kept as a draft, so that a refusal, a reload or the end of the session
 * loses nothing. Saves follow one another; only the latest text counts.
 */
export function openAutosave({ stored, drafts, save, pauseMs, onChange }: Options) {
  let saved = stored;
  const draft = drafts.read();
  let text = draft ?? stored;
  let state: SaveState = 'idle';
  let failure: unknown;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSaving = false;

  if (draft === stored) drafts.remove();
  else if (draft !== null) schedule();

  function become(next: SaveState): void {
    state = next;
    onChange();
  }

  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(flush, pauseMs);
    state = 'typing';
  }

  /** Saves now what is not saved yet. */
  function flush(): void {
    clearTimeout(timer);
    if (isSaving || text === saved) return;
    void send();
  }

  async function send(): Promise<void> {
    isSaving = true;
    const sent = text;
    become('saving');
    try {
      await save(sent);
      saved = sent;
      isSaving = false;
      if (text !== sent) return flush();
      drafts.remove();
      become('saved');
    } catch (error) {
      isSaving = false;
      failure = error;
      become('failed');
    }
  }

  return {
    get text() {
      return text;
    },
    get state() {
      return state;
    },
    get failure() {
      return failure;
    },
    type(next: string): void {
      text = next;
      if (text === saved && !isSaving) {
        clearTimeout(timer);
        drafts.remove();
        return become('saved');
      }
      drafts.write(text);
      schedule();
      onChange();
    },
    flush,
    /** The stored text changed elsewhere. It is taken over unless there is an unsaved one. */
    adopt(next: string): void {
      if (next === saved) return;
      const isClean = state === 'idle' || state === 'saved';
      saved = next;
      if (!isClean) return;
      text = next;
      onChange();
    },
    close(): void {
      flush();
      clearTimeout(timer);
    },
  };
}
