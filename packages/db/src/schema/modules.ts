import { sql } from 'drizzle-orm';
import {
  check,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts/users.ts';
import { createdAt, identifier, instant, tenantColumns, tenantPolicies, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';

/** Groups of accounts: a tenant's own, and those imported from its directory. */
export const groups = pgTable(
  'groups',
  {
    ...tenantColumns,
    internalName: text().notNull(),
    /** objectGUID or entryUUID of a directory group (`ldapObjectGuid` in the API); null for the tenant's own groups. */
    directoryId: identifier(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('groups_directory_id_unique').on(t.tenantId, t.directoryId),
    // A directory may use the same name in two organizational units.
    uniqueIndex('groups_name_unique')
      .on(t.tenantId, sql`lower(${t.internalName})`)
      .where(sql`directory_id is null`),
    ...tenantRules(t, tenants),
  ],
);

export const groupMembers = pgTable(
  'group_members',
  {
    tenantId: uuid().notNull(),
    groupId: uuid().notNull(),
    userId: uuid().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.groupId, t.userId] }),
    index('group_members_user').on(t.tenantId, t.userId),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.groupId], foreignColumns: [groups.tenantId, groups.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** Modules a tenant has switched off; all others are on. */
export const disabledModules = pgTable(
  'disabled_modules',
  {
    tenantId: uuid().notNull(),
    moduleKey: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.moduleKey] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** In ascending order: if several grants apply, the highest level wins. */
export const grantLevel = pgEnum('grant_level', ['USE', 'MANAGE']);

/** Access to a module, granted to a group or to an account. */
export const moduleGrants = pgTable(
  'module_grants',
  {
    ...tenantColumns,
    moduleKey: text().notNull(),
    groupId: uuid(),
    userId: uuid(),
    level: grantLevel().notNull().default('USE'),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('module_grants_group_unique').on(t.tenantId, t.groupId, t.moduleKey),
    uniqueIndex('module_grants_user_unique').on(t.tenantId, t.userId, t.moduleKey),
    check('module_grants_one_subject', sql`num_nonnulls(${t.groupId}, ${t.userId}) = 1`),
    foreignKey({ columns: [t.tenantId, t.groupId], foreignColumns: [groups.tenantId, groups.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** The headings of a tenant's sidebar. Positions count from 0 without a gap; `custom-modules` comes last. */
export const moduleCategories = pgTable(
  'module_categories',
  {
    ...tenantColumns,
    /** Derived from the first name; renaming the category does not change it. */
    key: text().notNull(),
    name: text().notNull(),
    position: integer().notNull(),
  },
  (t) => [
    uniqueIndex('module_categories_key_unique').on(t.tenantId, t.key),
    uniqueIndex('module_categories_name_unique').on(t.tenantId, sql`lower(${t.name})`),
    ...tenantRules(t, tenants),
  ],
);

/** The category an administrator chose for a built-in module; without a row, the module is in its default category. */
export const modulePlacements = pgTable(
  'module_placements',
  {
    tenantId: uuid().notNull(),
    moduleKey: text().notNull(),
    categoryId: uuid().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.moduleKey] }),
    index('module_placements_category').on(t.tenantId, t.categoryId),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.categoryId],
      foreignColumns: [moduleCategories.tenantId, moduleCategories.id],
    }),
    ...tenantPolicies(t.tenantId),
  ],
);

/** Pages on https listed in the sidebar like modules: shared with the tenant, or private to one account. */
export const customModules = pgTable(
  'custom_modules',
  {
    ...tenantColumns,
    /** Null if shared with the tenant. */
    ownerUserId: uuid(),
    name: text().notNull(),
    url: text().notNull(),
    categoryId: uuid().notNull(),
    sortOrder: integer().notNull().default(0),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    index('custom_modules_owner').on(t.tenantId, t.ownerUserId),
    index('custom_modules_category').on(t.tenantId, t.categoryId),
    foreignKey({ columns: [t.tenantId, t.ownerUserId], foreignColumns: [users.tenantId, users.id] }).onDelete(
      'cascade',
    ),
    foreignKey({
      columns: [t.tenantId, t.categoryId],
      foreignColumns: [moduleCategories.tenantId, moduleCategories.id],
    }),
    ...tenantRules(t, tenants),
  ],
);
