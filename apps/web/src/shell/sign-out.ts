import { useMutation } from '../mutation.ts';
import { signOut } from '../open-session.ts';
import { showToast } from '../ui/toast.tsx';
import { finishWaiting } from './before-leaving.ts';
import { closeOverlay } from './overlay.ts';
import { texts } from './texts.ts';

/** Signs out once nothing waits to be sent any more. */
export const useSignOut = () =>
  useMutation({
    mutationFn: async () => {
      await finishWaiting();
      await signOut();
    },
    onSuccess: closeOverlay,
    onError: () => showToast(texts.value.signOutFailed, { kind: 'error' }),
  });
