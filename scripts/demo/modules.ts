import { SmtpConfigInput } from '@portal/domain/mail-settings/smtp-config';
import { builtInWelcomeMail } from '@portal/domain/mail-settings/welcome-mail';
import { NewCustomModule } from '@portal/domain/modules/custom-modules';
import type { UserContext } from '@portal/platform/context';
import { pngIcon } from '@portal/testing/icons';
import { setAvatar } from '@portal/usecases/accounts/avatar';
import { updateOwnProfile } from '@portal/usecases/accounts/own-profile';
import { listUsers } from '@portal/usecases/accounts/users';
import { getSmtpConfig, putSmtpConfig } from '@portal/usecases/mail-settings/smtp-config';
import { getWelcomeTemplate, putWelcomeTemplate } from '@portal/usecases/mail-settings/welcome-mail-template';
import { assignModule, createCategory, listCategories } from '@portal/usecases/modules/categories';
import { createCustomModule, listCustomModules } from '@portal/usecases/modules/custom-modules';
import { setGrant } from '@portal/usecases/modules/grants';
import { createGroup, listGroups, setGroupMembers } from '@portal/usecases/modules/groups';
import type { Demo } from './fill.ts';
import { domain, grants, people } from './made-up.ts';

const ownCategory = 'Handbücher';

/** Groups with their grants, the sidebar, the mail server and the template of the welcome mail. */
export async function fillModules({ as, systems }: Demo): Promise<void> {
  await as('mara.muster', async (ctx) => {
    await fillGroups(ctx);
    await fillSidebar(ctx);
    const { host, port } = await getSmtpConfig(ctx);
    if (host !== '127.0.0.1' || port !== systems.smtp.port)
      await putSmtpConfig(
        ctx,
        SmtpConfigInput.parse({
          host: '127.0.0.1',
          port: systems.smtp.port,
          security: 'none',
          fromAddress: `portal@${domain}`,
          fromName: 'Portal der Stadtwerke',
          bugReportRecipient: `it@${domain}`,
        }),
      );
    const template = { ...builtInWelcomeMail, subject: 'Willkommen bei den Stadtwerken, {{vorname}}' };
    if ((await getWelcomeTemplate(ctx)).subject !== template.subject) await putWelcomeTemplate(ctx, template);
    if (!ctx.account.hasAvatar) await setAvatar(ctx, pngIcon({ side: 128, shade: 90 }));
    await updateOwnProfile(ctx, { accentColor: '#0f766e' });
  });
}

async function fillGroups(ctx: UserContext): Promise<void> {
  const { items } = await listUsers(ctx, { limit: 1_000 });
  const idOf = new Map(items.map(({ username, id }) => [username, id]));
  const known = await listGroups(ctx);
  for (const [internalName, levels] of Object.entries(grants)) {
    if (known.some((group) => group.internalName === internalName)) continue;
    const { id } = await createGroup(ctx, { internalName });
    const members = people.filter(({ groups }) => (groups as readonly string[]).includes(internalName));
    await setGroupMembers(
      ctx,
      id,
      members.flatMap(({ username }) => idOf.get(username) ?? []),
    );
    for (const [moduleKey, level] of Object.entries(levels))
      await setGrant(ctx, { subjectType: 'group', subjectId: id, moduleKey, level });
  }
}

async function fillSidebar(ctx: UserContext): Promise<void> {
  const known = (await listCategories(ctx)).find(({ name }) => name === ownCategory);
  const { key } = known ?? (await createCategory(ctx, { name: ownCategory }));
  if (known) return;
  await assignModule(ctx, { moduleKey: 'certificate-manager', categoryKey: key });
  if ((await listCustomModules(ctx)).length > 0) return;
  for (const [name, shared] of [
    ['Wiki', true],
    ['Meine Notizen', false],
  ] as const)
    await createCustomModule(
      ctx,
      NewCustomModule.parse({
        name,
        url: `https://${name === 'Wiki' ? 'wiki' : 'notizen'}.${domain}/`,
        category: key,
        shared,
      }),
    );
}
