import type { UserContext } from '@portal/platform/context';
import { createUser, listUsers } from '@portal/usecases/accounts/users';
import { domain, people } from './made-up.ts';

export async function fillPeople(ctx: UserContext, tenantId: string, password: string): Promise<void> {
  const { items } = await listUsers(ctx, { tenantId, limit: 1_000 });
  const known = new Set(items.map(({ username }) => username));
  for (const { username, displayName, role, isActive } of people) {
    if (known.has(username)) continue;
    const [firstName, lastName] = displayName.split(' ');
    await createUser(ctx, {
      tenantId,
      username,
      displayName,
      firstName,
      lastName,
      email: `${username}@${domain}`,
      role,
      isActive,
      password,
      mustChangePassword: false,
    });
  }
}
