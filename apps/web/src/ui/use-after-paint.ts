import { useEffect, useState } from 'preact/hooks';

/** The value, one frame late. What takes long to draw follows this one, so that a click is answered before it. */
export function useAfterPaint<Value>(value: Value): Value {
  const [painted, setPainted] = useState(() => value);
  useEffect(() => {
    // A frame is painted after its callbacks.
    const frame = requestAnimationFrame(() => setTimeout(() => setPainted(() => value)));
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return painted;
}
