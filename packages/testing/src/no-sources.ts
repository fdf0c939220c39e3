/** Settings of whatever a test or a benchmark starts: it reads no tenders from the real sources. */
export const noSources = { TENDER_TED_URL: '', TENDER_OEV_URL: '', TENDER_BUND_RSS_URL: '' };
