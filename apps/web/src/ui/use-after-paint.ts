import { useEffect, useState } from 'preact/hooks';

/** The value, one frame late. What takes long to draw follows this one, so that a click is answered before it. */
export function useAfterPaint<Value>(value: Value): Value {
  const [painted, setPainted] = useState(() => value);
  // An effect runs after the frame.
  useEffect(() => setPainted(() => value), [value]);
  return painted;
}
