import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface NearProps {
  /** How far from the window. */
  px: number;
  onNear: () => void;
  children?: ComponentChildren;
}

/** Tells when it comes near the window, as the end of a list does before a person reaches it. With another `key`, it tells once more. */
export function Near({ px, onNear, children }: NearProps) {
  const place = useRef<HTMLDivElement>(null);
  const tell = useRef(onNear);
  tell.current = onNear;
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting) tell.current();
      },
      { rootMargin: `${px}px 0px` },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [px]);
  return <div ref={place}>{children}</div>;
}
