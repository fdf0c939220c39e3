import { Check, Ellipsis, type IconNode } from 'lucide';
import { Fragment } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import s from './menu.module.css';
import { typeAhead } from './type-ahead.ts';

export interface MenuItem {
  label: string;
  icon?: IconNode | undefined;
  onSelect: () => void;
  danger?: boolean | undefined;
  disabled?: boolean | undefined;
  /** If given, the item is a check box. */
  checked?: boolean | undefined;
}

interface MenuProps {
  label: string;
  icon?: IconNode | undefined;
  trigger?: 'icon' | 'button' | undefined;
  items: readonly (MenuItem | 'separator')[];
  align?: 'start' | 'end' | undefined;
}

/** A button that opens a list of commands. */
export function Menu({ label, icon, trigger = 'icon', items, align = 'end' }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const findTyped = useRef(typeAhead());
  const [isOpen, setOpen] = useState(false);
  // A list draws dozens of menus at once, and hardly one is ever opened.
  const [isWanted, setWanted] = useState(false);
  const opensAtOnce = useRef(false);
  const anchor = `--menu-${id}`;

  const opener = () => document.querySelector<HTMLElement>(`[popovertarget="${CSS.escape(id)}"]`);
  const entries = () => [...(menu.current?.querySelectorAll<HTMLElement>('button') ?? [])];
  const focusEntry = (index: number) => entries().at(index)?.focus();

  useLayoutEffect(() => {
    if (isWanted && opensAtOnce.current) menu.current?.showPopover();
  }, [isWanted]);

  useEffect(() => {
    if (!isOpen || !menu.current) return;
    if (!hasAnchors) placeBelow(menu.current, opener(), align);
    // Unless letters have led to another one already
    if (document.activeElement === menu.current || !menu.current.contains(document.activeElement)) focusEntry(0);
  }, [isOpen]);

  const select = (item: MenuItem) => {
    if (item.disabled) return;
    menu.current?.hidePopover();
    opener()?.focus();
    item.onSelect();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const current = all.findIndex((entry) => entry === document.activeElement);
    const step = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') {
      menu.current?.hidePopover();
    } else if (step !== undefined) {
      event.preventDefault();
      focusEntry(step === all.length ? 0 : step);
    } else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const labels = all.map((entry) => entry.textContent ?? '');
      const found = findTyped.current(event.key, event.timeStamp, labels, current);
      if (found !== -1) focusEntry(found);
    }
  };

  const triggerProps = {
    popovertarget: isWanted ? id : undefined,
    onPointerEnter: () => setWanted(true),
    onFocus: () => setWanted(true),
    // A click by script comes without the pointer and the focus.
    onClick: () => {
      opensAtOnce.current = !isWanted;
      setWanted(true);
    },
    'aria-haspopup': 'menu' as const,
    'aria-expanded': isOpen,
    // Only while it is open: with a name, each moving tile would lay out the page anew.
    style: isOpen ? { anchorName: anchor } : {},
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      menu.current?.showPopover();
    },
  };

  return (
    <>
      {trigger === 'icon' ? (
        <IconButton icon={icon ?? Ellipsis} label={label} {...triggerProps} />
      ) : (
        <Button icon={icon} {...triggerProps}>
          {label}
        </Button>
      )}
      {isWanted && (
        <div
          ref={menu}
          id={id}
          class={s.menu}
          data-align={align}
          popover="auto"
          role="menu"
          tabIndex={-1}
          aria-label={label}
          style={{ positionAnchor: anchor }}
          onBeforeToggle={(event) => {
            // The browser gives it the focus as soon as it shows it, so no key that follows is lost.
            event.currentTarget.autofocus = event.newState === 'open';
            if (event.newState === 'open') setOpen(true);
          }}
          // Not before: the browser returns the focus only while an entry still has it.
          onToggle={(event) => {
            if (event.newState === 'closed') setOpen(false);
          }}
          onKeyDown={onKeyDown}
        >
          {isOpen &&
            items.map((item, index) => (
              <Fragment key={item === 'separator' ? index : item.label}>
                {item === 'separator' ? <hr /> : <Entry item={item} onSelect={() => select(item)} />}
              </Fragment>
            ))}
        </div>
      )}
    </>
  );
}

function Entry({ item, onSelect }: { item: MenuItem; onSelect: () => void }) {
  const { icon, checked } = item;
  const isCheck = checked !== undefined;
  return (
    <button
      type="button"
      role={isCheck ? 'menuitemcheckbox' : 'menuitem'}
      aria-checked={checked}
      aria-disabled={item.disabled}
      data-danger={item.danger || undefined}
      tabIndex={-1}
      onClick={onSelect}
    >
      {isCheck && <span class={s.slot}>{checked && <Icon icon={Check} />}</span>}
      {icon && <Icon icon={icon} />}
      <span dir="auto">{item.label}</span>
    </button>
  );
}

const hasAnchors = typeof CSS !== 'undefined' && CSS.supports('position-area', 'block-end');

/** For browsers without anchor positioning. */
function placeBelow(menu: HTMLElement, opener: HTMLElement | null, align: 'start' | 'end'): void {
  if (!opener) return;
  const gap = 4;
  const at = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = align === 'start' ? at.left : at.right - width;
  const below = at.bottom + gap;
  const top = below + height > innerHeight ? at.top - gap - height : below;
  menu.style.margin = '0';
  menu.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`;
  menu.style.top = `${Math.max(gap, Math.min(top, innerHeight - height - gap))}px`;
}
