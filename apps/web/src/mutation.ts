import {
  type MutationFunction,
  useMutation as useQueryMutation,
  type UseMutationOptions,
} from '@tanstack/preact-query';
import { useRef } from 'preact/hooks';

interface MutationOptions<Data, Variables, Result> extends UseMutationOptions<Data, Error, Variables, Result> {
  mutationFn: MutationFunction<Data, Variables>;
}

/**
 * TanStack's hook, except that it always calls the newest `mutationFn`. TanStack takes over a new one only after the next frame, so Enter
 * right after the last letter would send a form without that letter.
 */
export function useMutation<Data = unknown, Variables = void, Result = unknown>(
  options: MutationOptions<Data, Variables, Result>,
) {
  const drawn = useRef(options.mutationFn);
  drawn.current = options.mutationFn;
  return useQueryMutation<Data, Error, Variables, Result>({
    ...options,
    mutationFn: (variables, context) => drawn.current(variables, context),
  });
}
