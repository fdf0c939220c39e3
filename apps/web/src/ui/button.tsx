import { LoaderCircle, type IconNode } from 'lucide';
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import s from './button.module.css';
import { Icon } from './icon.tsx';

type Kind = 'primary' | 'secondary' | 'ghost' | 'danger';

interface Common extends Omit<ButtonHTMLAttributes, 'class' | 'className' | 'size' | 'icon' | 'label' | 'type'> {
  kind?: Kind | undefined;
  type?: 'button' | 'submit' | 'reset' | undefined;
  size?: 'normal' | 'small' | undefined;
  /** Work is under way: the button keeps the focus and ignores clicks. */
  busy?: boolean | undefined;
}

interface ButtonProps extends Common {
  icon?: IconNode | undefined;
  children: ComponentChildren;
}

export const Button = (props: ButtonProps) => base(props);

interface IconButtonProps extends Common {
  icon: IconNode;
  /** Name for screen readers, and the tooltip. */
  label: string;
  pressed?: boolean | undefined;
}

export const IconButton = ({ label, kind = 'ghost', pressed, ...rest }: IconButtonProps) =>
  base({ kind, ...rest, 'data-icon': true, title: label, 'aria-label': label, 'aria-pressed': pressed });

interface LinkButtonProps {
  href: string;
  kind?: Kind | undefined;
  icon?: IconNode | undefined;
  children: ComponentChildren;
  /** The file name, if the link downloads. */
  download?: string | boolean | undefined;
  target?: '_blank' | undefined;
  rel?: string | undefined;
  size?: 'normal' | 'small' | undefined;
}

export function LinkButton({ kind = 'secondary', size = 'normal', icon, children, ...rest }: LinkButtonProps) {
  return (
    <a class={s.button} data-kind={kind} data-size={size} {...(rest.target && { rel: 'noreferrer' })} {...rest}>
      {iconOf(icon)}
      {children}
    </a>
  );
}

interface BaseProps extends Common {
  icon?: IconNode | undefined;
  children?: ComponentChildren;
  'data-icon'?: boolean;
}

// Not a component: a list draws dozens of buttons at once.
function base({ kind = 'secondary', size = 'normal', type, icon, busy, onClick, children, ...rest }: BaseProps) {
  // A disabled button would lose the focus, so a busy one only ignores clicks.
  const behaviour = busy ? { 'aria-busy': true, 'aria-disabled': true } : { ...(type && { type }), onClick };
  return (
    <button type="button" class={s.button} data-kind={kind} data-size={size} {...rest} {...behaviour}>
      {iconOf(icon, busy)}
      {children}
    </button>
  );
}

function iconOf(icon: IconNode | undefined, busy = false) {
  if (busy) return <Icon icon={LoaderCircle} class={s.spinner} />;
  return icon ? <Icon icon={icon} /> : null;
}
