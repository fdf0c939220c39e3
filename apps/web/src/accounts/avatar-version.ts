import { signal } from '@preact/signals';

/** Changes with the avatar of the account, whose address stays the same. Components that show it pass this to `Avatar`. */
export const avatarVersion = signal(0);
