import { Copy } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { texts } from './form-texts.ts';
import { showToast } from './toast.tsx';

interface CopyButtonProps {
  /** What is copied. */
  text: string;
  children?: ComponentChildren;
  size?: 'normal' | 'small' | undefined;
}

export function CopyButton({ text, children, size = 'small' }: CopyButtonProps) {
  const copy = async () => {
    const t = texts.value;
    try {
      // Browsers have no clipboard on a page without encryption.
      await navigator.clipboard.writeText(text);
      showToast(t.copied, { kind: 'success' });
    } catch {
      showToast(t.copyFailed, { kind: 'error' });
    }
  };
  return (
    <Button size={size} icon={Copy} onClick={() => void copy()}>
      {children ?? texts.value.copy}
    </Button>
  );
}
