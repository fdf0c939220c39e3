/** Settings for programs of tests and benchmarks: they read no tenders from the real sources. */
export const noSources = { TENDER_TED_URL: '', TENDER_OEV_URL: '', TENDER_BUND_RSS_URL: '' };
