import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openAutosave } from './autosave.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service whose answers the test gives by hand, and drafts in memory. */
function setUp({ stored = 'old', draft = null as string | null } = {}) {
  const calls: { text: string; answer: (error?: Error) => Promise<void> }[] = [];
  const kept = { draft };
  const states: string[] = [];
  const note = openAutosave({
    stored,
    pauseMs: 1_000,
    drafts: {
      read: () => kept.draft,
      write: (text) => {
        kept.draft = text;
      },
      remove: () => {
        kept.draft = null;
      },
    },
    save: (text) =>
      new Promise<void>((resolve, reject) => {
        const answer = async (error?: Error) => {
          if (error) reject(error);
          else resolve();
          await vi.advanceTimersByTimeAsync(0);
        };
        calls.push({ text, answer });
      }),
    onChange: () => {
      if (states.at(-1) !== note.state) states.push(note.state);
    },
  });
  return { note, calls, kept, states };
}

it('saves once after a pause', async () => {
  const { note, calls, kept, states } = setUp();
  note.type('a');
  vi.advanceTimersByTime(900);
  note.type('ab');
  vi.advanceTimersByTime(999);
  expect(calls).toHaveLength(0);
  expect(kept.draft).toBe('ab');
  vi.advanceTimersByTime(1);
  expect(calls.map(({ text }) => text)).toEqual(['ab']);
  await calls[0]?.answer();
  expect(states).toEqual(['typing', 'saving', 'saved']);
  expect(kept.draft).toBeNull();
});

it('saves what was typed during a save afterwards', async () => {
  const { note, calls, kept } = setUp();
  note.type('a');
  note.flush();
  note.type('ab');
  note.flush();
  expect(calls).toHaveLength(1);
  await calls[0]?.answer();
  expect(calls.map(({ text }) => text)).toEqual(['a', 'ab']);
  expect(kept.draft).toBe('ab');
  await calls[1]?.answer();
  expect(note.state).toBe('saved');
  expect(kept.draft).toBeNull();
});

it('keeps a refused text and sends it again', async () => {
  const { note, calls, kept } = setUp();
  note.type('new');
  note.flush();
  const refusal = new Error('refused');
  await calls[0]?.answer(refusal);
  expect([note.state, note.failure, note.text, kept.draft]).toEqual(['failed', refusal, 'new', 'new']);
  note.flush();
  await calls[1]?.answer();
  expect([note.state, kept.draft]).toEqual(['saved', null]);
});

it('takes an unsaved draft up again', async () => {
  const { note, calls } = setUp({ draft: 'draft' });
  expect([note.text, note.state]).toEqual(['draft', 'typing']);
  vi.advanceTimersByTime(1_000);
  await calls[0]?.answer();
  expect(note.state).toBe('saved');
});

it('forgets a draft that the service has', () => {
  const { note, kept } = setUp({ draft: 'old' });
  expect([note.state, kept.draft]).toEqual(['idle', null]);
});

it('sends nothing if the text is as before', () => {
  const { note, calls, kept } = setUp();
  note.type('older');
  note.type('old');
  vi.advanceTimersByTime(5_000);
  expect(calls).toHaveLength(0);
  expect([note.state, kept.draft]).toEqual(['saved', null]);
});

it('takes a text from elsewhere over unless there is an unsaved one', () => {
  const { note } = setUp();
  note.adopt('from the desktop');
  expect(note.text).toBe('from the desktop');
  note.type('mine');
  note.adopt('theirs');
  expect(note.text).toBe('mine');
});

it('saves when it closes', () => {
  const { note, calls } = setUp();
  note.type('last words');
  note.close();
  expect(calls.map(({ text }) => text)).toEqual(['last words']);
});
