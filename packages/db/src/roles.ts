/** Every connection of the apps starts as this role: it owns nothing and sees one tenant at a time. */
export const appRoleName = 'portal_app';
/** A cross-tenant scope takes on this role for one transaction. */
export const acrossRoleName = 'portal_across';
/** Holds the job queue's tables if no Redis is configured. */
export const queueSchema = 'bullmq';
/** The default login of the apps: it can become the two roles above and nothing else. */
export const appLoginName = 'portal_login';
