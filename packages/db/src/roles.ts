/** Every connection of the apps starts as this role: it owns nothing and sees one tenant at a time. */
export const appRoleName = 'portal_app';
/** Taken on for one transaction by a named cross-tenant scope. */
export const acrossRoleName = 'portal_across';
/** Where the job queue keeps its tables when no Redis is configured. */
export const queueSchema = 'bullmq';
/** The login of the apps where nobody has chosen another: it can become the two roles above and nothing else. */
export const appLoginName = 'portal_login';
