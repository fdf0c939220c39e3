import type { User } from '@portal/client/interface';
import type { Role } from './user-words.ts';

/** What the form of an account holds. */
export interface UserDraft {
  username: string;
  email: string;
  displayName: string;
  firstName: string;
  lastName: string;
  role: Role;
  mustChangePassword: boolean;
}

export const draftFields = [
  'username',
  'email',
  'displayName',
  'firstName',
  'lastName',
  'role',
  'mustChangePassword',
] as const satisfies (keyof UserDraft)[];

export const emptyDraft: UserDraft = {
  username: '',
  email: '',
  displayName: '',
  firstName: '',
  lastName: '',
  role: 'USER',
  mustChangePassword: false,
};

export const draftOf = (user: User): UserDraft => ({
  username: user.username,
  email: user.email ?? '',
  displayName: user.displayName ?? '',
  firstName: user.firstName ?? '',
  lastName: user.lastName ?? '',
  role: user.role,
  mustChangePassword: user.mustChangePassword,
});

/** The body of a call with these fields; what is blank becomes null. */
export const personOf = ({ email, displayName, firstName, lastName }: UserDraft) => ({
  email: blankToNull(email),
  displayName: blankToNull(displayName),
  firstName: blankToNull(firstName),
  lastName: blankToNull(lastName),
});

const blankToNull = (text: string): string | null => (text.trim() === '' ? null : text);

/** The fields whose values differ. */
export const differingFields = (a: UserDraft, b: UserDraft): (keyof UserDraft)[] =>
  draftFields.filter((field) => a[field] !== b[field]);

/** The body that changes only these fields. */
export function changeOf(draft: UserDraft, fields: readonly (keyof UserDraft)[]): Partial<UserChange> {
  const all: UserChange = { ...draft, ...personOf(draft) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => fields.includes(name as keyof UserDraft)));
}

type UserChange = Omit<UserDraft, keyof ReturnType<typeof personOf>> & ReturnType<typeof personOf>;

/**
 * The form after another administrator saved the account: what only they changed is taken over. `conflicts` are the fields that both
 * changed, each in a way of its own.
 */
export function mergeDraft(
  opened: UserDraft,
  mine: UserDraft,
  theirs: UserDraft,
): { draft: UserDraft; conflicts: (keyof UserDraft)[] } {
  const changedByMe = differingFields(opened, mine);
  const changedByThem = differingFields(opened, theirs);
  const untouched = changedByThem.filter((field) => !changedByMe.includes(field));
  const conflicts = changedByThem.filter((field) => changedByMe.includes(field) && mine[field] !== theirs[field]);
  return { draft: { ...mine, ...pick(theirs, untouched) }, conflicts };
}

export const pick = (draft: UserDraft, fields: readonly (keyof UserDraft)[]): Partial<UserDraft> =>
  Object.fromEntries(fields.map((field) => [field, draft[field]]));
