import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const pauseMs = 350;

/** The text of a field that takes effect after a pause in typing. A value that comes from elsewhere, such as the back button, replaces it. */
export function useTyped(value: string, onChange: (value: string) => void): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const change = useRef(onChange);
  change.current = onChange;

  // Not after the frame, within which something may be typed.
  useLayoutEffect(() => {
    if (value.trim() === sent.current.trim()) return;
    sent.current = value;
    setTyped(value);
  }, [value]);

  useEffect(() => {
    if (typed.trim() === sent.current.trim()) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed;
      change.current(typed);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);

  return [typed, setTyped];
}
