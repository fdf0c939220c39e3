/** What the document says about the interface as a whole. */
export const info = {
  title: 'Portal',
  contact: { name: 'Who runs this installation' },
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  description: `Multi-tenant portal: accounts, dashboards, monitoring, tenders and accounting tools of organisations that share one service and never see each other.

**Signing in.** \`POST /auth/login\` sets an httpOnly session cookie, valid for 30 days; every other call sends it along. \`x-access\` at each operation says who may call it: a role, or \`use:\` or \`manage:\` and a module, which an administrator grants to accounts and groups; ADMIN and SUPER_ADMIN hold \`manage\` for every module of their tenant, and \`admin:\` and a module is for them alone, while the module is on. While an account must change its password, everything else that needs a session answers 403 \`PASSWORD_CHANGE_REQUIRED\`.

**Browsers of other origins** need theirs listed in the setting CORS_ORIGINS. A request that changes something and carries another \`Origin\` answers 403 \`ORIGIN_NOT_ALLOWED\`.

**Errors** all have the form of the schema \`Error\`. \`code\` never changes; \`message\` is for people. Checks come in this order: unknown path 404, method 405 with \`Allow\`, session 401, forced change 403, role or module 403, body type 415 and size 413, input 400, record 404, state 409. What belongs to another tenant or user answers the same 404 as what never existed. Every answer carries \`X-Request-Id\`; name it when you report a problem.

**Lists** are bare arrays. Long ones take \`limit\` and \`cursor\`; where the list goes on stands in the headers \`Link\` and \`X-Next-Cursor\`.

**Values.** Ids are UUIDs, times ISO 8601 in UTC, money integer cents; a unit stands in the name. Unknown JSON keys are ignored. Bodies are JSON in UTF-8, at most 1 MiB.`,
};
