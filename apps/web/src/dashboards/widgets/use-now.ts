import { useEffect, useState } from 'preact/hooks';
import { useIsVisible } from '../../polling.ts';
import { msToNextTick } from './ticks.ts';

/** The time now. It moves on with each full step, and not in a hidden tab. */
export function useNow(stepMs: number): number {
  const [now, setNow] = useState(Date.now);
  const isVisible = useIsVisible();
  useEffect(() => {
    if (!isVisible) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      setNow(Date.now());
      timer = setTimeout(tick, msToNextTick(Date.now(), stepMs));
    };
    tick();
    return () => clearTimeout(timer);
  }, [stepMs, isVisible]);
  return now;
}
