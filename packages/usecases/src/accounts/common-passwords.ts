import { dictionary } from '@zxcvbn-ts/language-common';
import { passwordLength } from '@portal/domain/accounts';

// The list of the 49,233 most used passwords that @zxcvbn-ts/language-common carries (MIT licence; drawn from
// leaked collections and ranked by frequency). Shorter ones never get past the length rule, so they are not kept.
const common = new Set(
  dictionary['passwords-common']
    .filter((password) => password.length >= passwordLength.min)
    .map((password) => password.toLowerCase()),
);

/** Whether a password is on the list of common ones, without regard to case. */
export const isCommonPassword = (password: string): boolean => common.has(password.toLowerCase());
