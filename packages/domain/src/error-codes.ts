/** The class of an error for programs: the API maps a kind to a status, the worker to "retry" or "give up". */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'expectation_failed'
  | 'busy'
  | 'headers_too_large'
  | 'internal'
  | 'upstream'
  | 'unavailable';

/**
 * Every error code of the product with its default message; the place that throws may give a more specific one. A published code never
 * changes.
 */
export const errorCodes = {
  // Any route
  VALIDATION_FAILED: { kind: 'invalid', message: 'The request is not valid.' },
  INVALID_JSON: { kind: 'invalid', message: 'The request body is not valid JSON.' },
  UNAUTHENTICATED: { kind: 'unauthenticated', message: 'Please sign in.' },
  FORBIDDEN: { kind: 'forbidden', message: 'You may not do this.' },
  ORIGIN_NOT_ALLOWED: { kind: 'forbidden', message: 'Requests from this origin are not allowed.' },
  NOT_FOUND: { kind: 'not_found', message: 'There is nothing here.' },
  METHOD_NOT_ALLOWED: { kind: 'method_not_allowed', message: 'This path does not support this method.' },
  REQUEST_TIMEOUT: { kind: 'request_timeout', message: 'The request took too long to arrive.' },
  CONFLICT: {
    kind: 'conflict',
    message: 'Another user or process changed this at the same time. Please reload and try again.',
  },
  LIMIT_REACHED: { kind: 'conflict', message: 'The maximum number is reached. Please delete an entry first.' },
  PAYLOAD_TOO_LARGE: { kind: 'too_large', message: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: {
    kind: 'unsupported_media_type',
    message: 'This route does not accept the content type of the request body.',
  },
  RANGE_NOT_SATISFIABLE: { kind: 'range_not_satisfiable', message: 'The requested range is outside the file.' },
  EXPECTATION_FAILED: {
    kind: 'expectation_failed',
    message: 'This server supports no other expectation than 100-continue.',
  },
  RATE_LIMITED: { kind: 'busy', message: 'Too many attempts. Please wait before you try again.' },
  HEADERS_TOO_LARGE: { kind: 'headers_too_large', message: 'The request headers are too large.' },
  INTERNAL: { kind: 'internal', message: 'Something went wrong on our side.' },
  UNAVAILABLE: {
    kind: 'unavailable',
    message: 'The database cannot be reached right now. Please try again in a few seconds.',
  },

  // Accounts
  INVALID_CREDENTIALS: { kind: 'unauthenticated', message: 'Username or password is wrong.' },
  CURRENT_PASSWORD_WRONG: { kind: 'unauthenticated', message: 'The current password is wrong.' },
  CURRENT_PASSWORD_REQUIRED: {
    kind: 'invalid',
    message: 'Please enter your current password to change your e-mail address.',
  },
  PASSWORD_CHANGE_REQUIRED: { kind: 'forbidden', message: 'Please change your password first.' },
  PASSWORD_POLICY: { kind: 'invalid', message: 'This password does not meet the rules. Please choose another one.' },
  TOKEN_INVALID: { kind: 'invalid', message: 'This link is not valid any more. Please request a new one.' },
  TENANT_FIXED: {
    kind: 'invalid',
    message: 'An account stays in its tenant. Please create a new one in the other tenant.',
  },
  ROLE_NOT_ALLOWED: { kind: 'forbidden', message: 'Only a SUPER_ADMIN may assign the role SUPER_ADMIN.' },
  USERNAME_TAKEN: { kind: 'conflict', message: 'This username is already taken.' },
  EMAIL_TAKEN: { kind: 'conflict', message: 'Another account already has this e-mail address.' },
  DIRECTORY_ACCOUNT: { kind: 'conflict', message: 'This account comes from the directory. Please change it there.' },
  LAST_SUPER_ADMIN: {
    kind: 'conflict',
    message: 'This is the last active SUPER_ADMIN. Please appoint another one first.',
  },
  NO_ADDRESS: { kind: 'conflict', message: 'This account has no e-mail address.' },
  NOT_COMPARABLE: { kind: 'invalid', message: 'The running release has no version number to compare with.' },

  // Tenants
  TENANT_NAME_TAKEN: { kind: 'conflict', message: 'Another tenant already has this name.' },
  OWN_TENANT: { kind: 'conflict', message: 'You cannot deactivate the tenant you belong to.' },
  TENANT_HAS_ACTIVE_USERS: {
    kind: 'conflict',
    message: 'This tenant still has active accounts. Please deactivate or delete them first.',
  },

  // Modules
  MODULE_DISABLED: { kind: 'forbidden', message: 'This module is switched off for your organization.' },
  MODULE_ACCESS_DENIED: {
    kind: 'forbidden',
    message: 'You have no access to this module. Please ask an administrator of your organization.',
  },
  MANAGE_REQUIRED: {
    kind: 'forbidden',
    message: 'You may use this module, but not manage it. Please ask an administrator of your organization.',
  },
  GROUP_NAME_TAKEN: { kind: 'conflict', message: 'Another group already has this name.' },
  DIRECTORY_GROUP: { kind: 'conflict', message: 'This group comes from the directory. Please change it there.' },
  TARGET_REQUIRED: { kind: 'conflict', message: 'Please name the category that the modules of this one move to.' },

  // Dashboards
  UNSUPPORTED_IMAGE: { kind: 'invalid', message: 'This image cannot be used. Please choose another one.' },
  INVALID_WIDGET_TYPE: { kind: 'invalid', message: 'There is no widget of this type.' },
  TAB_LIMIT: { kind: 'conflict', message: 'You have the maximum number of dashboards. Please delete one first.' },
  LAST_TAB: { kind: 'conflict', message: 'You cannot delete your last dashboard.' },
  IMAGE_LIMIT: { kind: 'conflict', message: 'You have the maximum number of pictures. Please delete one first.' },
  GRID_VERSION_NEWER: {
    kind: 'conflict',
    message:
      'This dashboard was arranged with a newer version of the program. Please reload the page before you change it.',
  },
  LAYOUT_CHANGED: {
    kind: 'conflict',
    message: 'This dashboard was rearranged elsewhere in the meantime. Please load it again.',
  },

  // Reminders
  REMINDER_DUE: { kind: 'conflict', message: 'This reminder is due. Please snooze it or mark it as done.' },
  REMINDER_NOT_DUE: { kind: 'conflict', message: 'Only a reminder that is due can be snoozed or marked as done.' },
  REMINDER_DONE: { kind: 'conflict', message: 'This reminder is done and cannot be changed any more.' },

  // Certificates
  TOO_MANY_FILES: { kind: 'too_large', message: 'You sent too many files at once.' },
  TOO_LARGE: { kind: 'too_large', message: 'A file, or the total of all files, exceeds the size limit.' },
  ARCHIVE_TOO_LARGE: { kind: 'too_large', message: 'The content of the archive is larger than allowed.' },
  MISSING_PART: { kind: 'invalid', message: 'A part that this format needs is missing.' },
  KEY_MISMATCH: { kind: 'invalid', message: 'The key does not belong to the certificate.' },
  PASSWORD_REQUIRED: { kind: 'invalid', message: 'Please choose a password: it protects the key.' },
  FORMAT_NOT_FOR_KEY_TYPE: { kind: 'invalid', message: 'This format does not support keys of this type.' },

  // Accounting
  FILE_UNREADABLE: {
    kind: 'invalid',
    message: 'This file cannot be read. Please save it again and upload the new file.',
  },
  ENCODING_UNSUPPORTED: {
    kind: 'invalid',
    message: 'The characters of this file cannot be read. Please save it as CSV in UTF-8 or Windows-1252.',
  },
  HEADER_MISSING: { kind: 'invalid', message: 'The file has no header with the required columns.' },
  TOO_MANY_ROWS: { kind: 'invalid', message: 'The file has too many rows.' },
  ROW_ERRORS: { kind: 'invalid', message: 'Some rows of the file have errors. Please correct them first.' },
  SUM_NEGATIVE: {
    kind: 'invalid',
    message: 'The sum of at least one person is below zero. Please confirm that this is correct.',
  },
  NOTHING_TO_EXPORT: { kind: 'invalid', message: 'Nothing is left to export.' },
  PERIOD_REQUIRED: { kind: 'invalid', message: 'Cell B1 does not name a month. Please choose the month.' },
  SETTINGS_INCOMPLETE: { kind: 'conflict', message: 'The settings are not complete. Please fill them in first.' },
  ACCOUNTS_STALE: {
    kind: 'conflict',
    message: 'The account list was changed in the meantime. Please look at the preview again.',
  },

  // Settings, mails and the directory
  SECRET_REQUIRED: { kind: 'invalid', message: 'The password must be entered again, or removed with null.' },
  UNKNOWN_PLACEHOLDER: { kind: 'invalid', message: 'The text contains an unknown placeholder.' },
  MAIL_NOT_CONFIGURED: {
    kind: 'conflict',
    message: 'No mail server is configured. Please set one up in the mail settings.',
  },
  MAIL_DELIVERY_FAILED: { kind: 'upstream', message: 'The mail server did not accept the mail.' },
  DIRECTORY_NOT_CONFIGURED: {
    kind: 'conflict',
    message: 'No directory is set up yet. Please enter its server and base first.',
  },
  DIRECTORY_UNAVAILABLE: { kind: 'upstream', message: 'The directory server cannot be reached.' },
  SYNC_RUNNING: {
    kind: 'conflict',
    message: 'A synchronization is already running. Please wait until it is finished.',
  },
  SYNC_BLOCKED: { kind: 'conflict', message: 'The synchronization would deactivate too many accounts.' },

  // Bug reports
  NOT_A_PNG: { kind: 'invalid', message: 'The screenshot is not a PNG picture.' },
  NO_RECIPIENT: {
    kind: 'conflict',
    message:
      'Your organization has no recipient for bug reports yet. An administrator can set one in the mail settings.',
  },

  // Desktop packages
  INVALID_ORIGIN: { kind: 'invalid', message: 'The origin must be an https address without path and query.' },

  // Monitoring
  TOKEN_NOT_SUPPORTED: { kind: 'invalid', message: 'Servers of this kind do not support API tokens.' },
  POLL_LOCKED: { kind: 'busy', message: 'The last check started a moment ago. Please wait a few seconds.' },

  // Invoices
  MAILBOX_NOT_CONFIGURED: {
    kind: 'conflict',
    message: 'No invoice mailbox is set up yet. Please enter its server and account first.',
  },
  MAILBOX_UNAVAILABLE: { kind: 'upstream', message: 'The mailbox cannot be read.' },
  // Tender radar
  NAME_TAKEN: { kind: 'conflict', message: 'This name is already in use.' },
  FEED_EXISTS: { kind: 'conflict', message: 'This feed is already registered.' },

  // Calls to foreign hosts
  OUTBOUND_BLOCKED: { kind: 'invalid', message: 'The portal is not allowed to call this address.' },
  OUTBOUND_UNREACHABLE: { kind: 'upstream', message: 'The host could not be reached.' },
  OUTBOUND_CERTIFICATE: { kind: 'upstream', message: 'The host did not show a valid certificate.' },
  OUTBOUND_TIMEOUT: { kind: 'upstream', message: 'The host did not answer in time.' },
  OUTBOUND_TOO_LARGE: { kind: 'upstream', message: 'The answer of the host is too large.' },
  OUTBOUND_REDIRECTS: { kind: 'upstream', message: 'The host redirected too often.' },
  OUTBOUND_MALFORMED: { kind: 'upstream', message: 'The host sent an answer that cannot be read.' },
} as const satisfies Record<string, { kind: ErrorKind; message: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** The codes of a kind. */
export type CodeOf<Kind extends ErrorKind> = {
  [Code in ErrorCode]: (typeof errorCodes)[Code]['kind'] extends Kind ? Code : never;
}[ErrorCode];
