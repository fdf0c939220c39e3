import type { User } from '@portal/domain/accounts/accounts';
import type { UserContext } from '@portal/platform/context';
import { toUser } from './account-columns.ts';
import { accountFor, administer } from './administer.ts';

/** One account the actor may administer; 404 for any other. */
export const getUser = (ctx: UserContext, userId: string): Promise<User> =>
  administer(ctx, async (tx) => toUser(await accountFor(tx, userId)));
