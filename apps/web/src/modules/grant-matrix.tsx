import { Check, Settings, User, UsersRound } from 'lucide';
import { Component } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { Status } from '../ui/status.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './administration.module.css';
import {
  cellKey,
  type GrantDraft,
  type Level,
  levelOf,
  type MatrixModule,
  nextLevel,
  type Subject,
} from './grant-draft.ts';
import { texts } from './grants-texts.ts';
import { drawnRows, type Place, placeAfter } from './matrix-places.ts';

interface GrantMatrixProps {
  subjects: readonly Subject[];
  modules: readonly MatrixModule[];
  draft: GrantDraft;
  onChange: (subject: Subject, module: string, from: Level, to: Level) => void;
}

/** A table of subjects and modules that scrolls in its own region. Only the rows near the visible ones are drawn. */
export function GrantMatrix({ subjects, modules, draft, onChange }: GrantMatrixProps) {
  const t = texts.value;
  const region = useRef<HTMLDivElement>(null);
  const [rowPx, setRowPx] = useState(36);
  const [scrolled, setScrolled] = useState(0);
  const [wanted, setActive] = useState<Place>({ row: 0, column: 0 });
  const [news, setNews] = useState('');
  const mustFocus = useRef(false);
  const hadFocus = useRef(false);

  const count = subjects.length;
  const { first, end } = drawnRows({ scrolled, rowPx, viewPx: innerHeight, count });
  const active = {
    row: Math.min(wanted.row, count - 1),
    column: Math.min(wanted.column, modules.length - 1),
  };
  // Tab must lead into the table also while the active row is not drawn.
  const tabRow = active.row >= first && active.row < end ? active.row : first;

  useLayoutEffect(() => {
    const { current } = region;
    // Rows have one height; it follows the pointer and the text size.
    const measured = current?.querySelector('tbody tr')?.getBoundingClientRect().height;
    if (measured && Math.abs(measured - rowPx) > 0.1) setRowPx(measured);
    if (mustFocus.current) {
      const cell = current?.querySelector<HTMLElement>(`[data-at="${active.row} ${active.column}"]`);
      if (!cell) return;
      mustFocus.current = false;
      cell.focus();
    } else if (hadFocus.current && document.activeElement === document.body) {
      // The row with the focus was scrolled away; the next arrow key returns to it.
      current?.focus({ preventScroll: true });
    }
  });

  const goTo = (place: Place) => {
    const { current } = region;
    const head = current?.querySelector('thead')?.getBoundingClientRect().height ?? 0;
    if (!current) return;
    // The row may not be drawn yet, so the browser cannot scroll to it.
    const top = place.row * rowPx;
    const view = current.clientHeight - head;
    if (top < current.scrollTop) current.scrollTop = top;
    else if (top + rowPx > current.scrollTop + view) current.scrollTop = top + rowPx - view;
    setScrolled(current.scrollTop);
    mustFocus.current = true;
    setActive(place);
  };

  const change = (subject: Subject, module: MatrixModule, to?: null) => {
    const saved = levelOf(subject, module.key);
    const shown = draft.get(cellKey(subject, module.key));
    const level = shown ? shown.to : saved;
    const next = to === undefined ? nextLevel(level, module.hasManage) : to;
    onChange(subject, module.key, saved, next);
    setNews(t.chosen(t.cell(subject.name, module.name), next === null ? t.none : t.levels[next]));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const pageRows = Math.max(1, Math.floor((region.current?.clientHeight ?? 0) / rowPx) - 3);
    const size = { rows: count, columns: modules.length, pageRows };
    const next = event.altKey || event.metaKey ? null : placeAfter(event.key, event.ctrlKey, active, size);
    const [subject, module] = [subjects[active.row], modules[active.column]];
    if (next) {
      event.preventDefault();
      goTo(next);
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && subject && module) {
      event.preventDefault();
      change(subject, module, null);
    }
  };

  return (
    <>
      {/* The keys of its cells arrive here. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={region}
        class={s.region}
        role="region"
        aria-label={t.matrix}
        tabIndex={-1}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
        onFocusIn={({ target }) => {
          hadFocus.current = true;
          const [row, column] = (target instanceof HTMLElement ? (target.dataset['at'] ?? '') : '').split(' ');
          if (row && column) setActive({ row: Number(row), column: Number(column) });
        }}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget) hadFocus.current = false;
        }}
      >
        <table
          class={s.matrix}
          // Its cells are buttons, and arrow keys move between them.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role
          role="grid"
          aria-label={t.matrix}
          aria-rowcount={count + 1}
          style={{
            '--columns': String(modules.length),
            marginBlock: `${first * rowPx}px ${(count - end) * rowPx}px`,
          }}
        >
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col">{t.subject}</th>
              {modules.map(({ key, name, enabled }) => (
                <th key={key} scope="col" title={enabled ? name : t.isOff(name)}>
                  <span>{name}</span>
                  <Status kind={enabled ? 'ok' : 'unknown'}>{enabled ? t.on : t.off}</Status>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {subjects.slice(first, end).map((subject, offset) => (
              <Row
                key={cellKey(subject, '')}
                subject={subject}
                row={first + offset}
                modules={modules}
                draft={draft}
                tabColumn={first + offset === tabRow ? active.column : -1}
                words={t}
                onPress={change}
              />
            ))}
          </tbody>
        </table>
      </div>
      <VisuallyHidden>
        <span role="status">{news}</span>
      </VisuallyHidden>
    </>
  );
}

interface RowProps {
  subject: Subject;
  row: number;
  modules: readonly MatrixModule[];
  draft: GrantDraft;
  /** The column whose cell Tab reaches; -1 if it is in another row. */
  tabColumn: number;
  words: typeof texts.value;
  onPress: (subject: Subject, module: MatrixModule) => void;
}

/** Scrolling draws only rows that come anew. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ subject, row, modules, draft, tabColumn, words }: RowProps): boolean {
    const { props } = this;
    return (
      subject !== props.subject ||
      row !== props.row ||
      modules !== props.modules ||
      draft !== props.draft ||
      tabColumn !== props.tabColumn ||
      words !== props.words
    );
  }

  override render({ subject, row, modules, draft, tabColumn, words: t, onPress }: RowProps) {
    return (
      <tr aria-rowindex={row + 2}>
        <th scope="row" title={subject.name}>
          <Icon icon={subject.type === 'group' ? UsersRound : User} />
          <VisuallyHidden>{t.kindOf[subject.type]} </VisuallyHidden>
          <bdi>{subject.name}</bdi>
        </th>
        {modules.map((module, column) => {
          const change = draft.get(cellKey(subject, module.key));
          const level = change ? change.to : levelOf(subject, module.key);
          return (
            <td key={module.key}>
              <button
                type="button"
                data-at={`${row} ${column}`}
                data-level={level ?? undefined}
                data-changed={change ? true : undefined}
                tabIndex={column === tabColumn ? 0 : -1}
                aria-label={t.cellState(level === null ? t.none : t.levels[level], change !== undefined)}
                onClick={() => onPress(subject, module)}
              >
                <LevelMark level={level} />
              </button>
            </td>
          );
        })}
      </tr>
    );
  }
}

function LevelMark({ level }: { level: Level }) {
  if (level === null) return <>–</>;
  return (
    <>
      <Icon icon={level === 'USE' ? Check : Settings} size={14} />
      {texts.value.levels[level]}
    </>
  );
}
