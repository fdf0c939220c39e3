import type { ComponentType } from 'preact';
import { useEffect, useReducer } from 'preact/hooks';
import { FailedState, Skeleton } from './ui/states.tsx';

export type Lazy<Props> = ComponentType<Props> & { preload: () => Promise<unknown> };

/**
 * A component whose script loads when it is first shown. Until then there is a skeleton; if loading fails, the person can try again.
 * `preload` starts loading ahead and never rejects.
 */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): Lazy<Props> {
  let loaded: ComponentType<Props> | undefined;
  let failure: unknown;
  let loading: Promise<void> | undefined;

  const preload = (): Promise<void> => {
    loading ??= load().then(
      (component) => {
        loaded = component;
        failure = undefined;
      },
      (error: unknown) => {
        failure = error;
        loading = undefined;
      },
    );
    return loading;
  };

  function LazyComponent(props: Props) {
    const [, update] = useReducer((count: number) => count + 1, 0);
    const start = () => void preload().then(() => update(undefined));
    const isLoaded = loaded !== undefined;
    useEffect(() => {
      // Also if the script arrived after this drawing: it must be drawn again.
      if (!isLoaded) start();
    }, []);
    if (loaded) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    if (failure === undefined) return <Skeleton />;
    const retry = () => {
      failure = undefined;
      update(undefined);
      start();
    };
    return <FailedState error={failure} onRetry={retry} />;
  }
  return Object.assign(LazyComponent, { preload });
}
