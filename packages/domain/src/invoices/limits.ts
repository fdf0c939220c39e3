// It imports nothing: the processes that read documents are to stay small.
const MiB = 1024 * 1024;

/** Of one mail as it lies on the server, attachments encoded. */
export const mailMaxBytes = 25 * MiB;
/** Documents of one mail; of more, none is taken and the mail is kept as it is. */
export const mailMaxDocuments = 20;
/** Mails a run downloads. */
export const fetchMaxMails = 20;
/** A run in all (specification, Limits: 60 s), and when it begins no other mail. */
export const fetchMs = 60_000;
export const fetchBeginsUntilMs = 50_000;
/** Minutes between two fetches of an active mailbox. */
export const fetchEveryMin = 10;
/** Of one XML, also of one inside a PDF. */
export const xmlMaxBytes = 20 * MiB;
/** Tries to read a mail that the server does not hand over. */
export const mailMaxTries = 5;
