// Imports nothing, to keep the processes that read documents small.
const MiB = 1024 * 1024;

/** Size of one mail on the server, with its attachments encoded. */
export const mailMaxBytes = 25 * MiB;
/** Documents of one mail. A mail with more is stored as one file. */
export const mailMaxDocuments = 20;
/** Mails downloaded per run. */
export const fetchMaxMails = 20;
/** Duration of a run (60 s), and the time after which it starts no other mail. */
export const fetchMs = 60_000;
export const fetchBeginsUntilMs = 50_000;
/** Minutes between two fetches of an active mailbox. */
export const fetchEveryMin = 10;
/** Size of one XML, also inside a PDF. */
export const xmlMaxBytes = 20 * MiB;
/** Attempts to read a mail that the server does not deliver. */
export const mailMaxTries = 5;
