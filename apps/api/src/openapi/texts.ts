/** What the document says about the interface as a whole. */
export const info = {
  title: 'Portal',
  contact: { name: 'The operator of this installation' },
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  description: `Multi-tenant portal: accounts, dashboards, monitoring, tenders and accounting tools for organizations that share one service but never see each other’s data.

**Signing in.** \`POST /auth/login\` sets an httpOnly session cookie, valid for 30 days; every other call sends it along. \`x-access\` at each operation says who may call it. It is a role, or a level and a module: \`use:\` or \`manage:\` with a module needs a grant, which an administrator gives to accounts and groups; ADMIN and SUPER_ADMIN have \`manage\` for every module of their tenant. \`admin:\` with a module is only for ADMIN and SUPER_ADMIN, while the module is switched on. While an account must change its password, every other call that needs a session answers 403 \`PASSWORD_CHANGE_REQUIRED\`.

**Browsers on other origins** can call the API only if their origin is listed in the setting CORS_ORIGINS. A request that changes something and has any other \`Origin\` answers 403 \`ORIGIN_NOT_ALLOWED\`.

**Errors** all have the form of the schema \`Error\`. \`code\` never changes; \`message\` is for people. Checks come in this order: unknown path 404, method 405 with \`Allow\`, session 401, forced change 403, role or module 403, body type 415 and size 413, input 400, record 404, state 409. A record of another tenant or user answers the same 404 as a record that never existed. Every answer has an \`X-Request-Id\`; name it when you report a problem.

**Lists** are bare arrays. Long lists take \`limit\` and \`cursor\`; the headers \`Link\` and \`X-Next-Cursor\` point to the next page.

**Values.** Ids are UUIDs, times are ISO 8601 in UTC, and money is in integer cents; field names contain the unit. Unknown JSON keys are ignored. Bodies are JSON in UTF-8, at most 1 MiB.`,
};
