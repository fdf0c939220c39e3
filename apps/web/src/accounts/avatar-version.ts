import { signal } from '@preact/signals';

/** Changes with the avatar of the account, whose address stays the same. Whoever shows it passes this to `Avatar`. */
export const avatarVersion = signal(0);
