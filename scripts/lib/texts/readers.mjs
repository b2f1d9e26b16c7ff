/** Guard's pages, answers and mails: texts that guard itself says in the language of the site. */
const SAID_BY_GUARD = /^packages\/guard\/src\/(?:pages|proxy|login\/two-factor|activity\/weekly-report)\//;
/** What these say goes into answers of the API, but for the subject of the test report. */
const SAID_TO_OWNER = /\/weekly-report\/(?:recipients|report-failure|report-sender|send-test-report)\.ts$/;
/** The contract's words, and the names of the essentials, stand on pages of the dashboard and in guard's mails. */
const SAID_BY_BOTH = /^packages\/(?:contract\/|guard\/src\/overview\/essentials\.ts$)/;

/**
 * Who looks a text up, by the files that hold it. What the rest of guard says travels in English to the dashboard.
 *
 * @param {string[]} files
 * @returns {Set<'dashboard' | 'connector' | 'guard'>}
 */
export function readersOf(files) {
  return new Set(files.flatMap(readersOfOne));
}

function readersOfOne(file) {
  if (file.endsWith('/class-activity-settings.php')) return ['dashboard'];
  if (file.endsWith('.php')) return ['connector'];
  if (SAID_TO_OWNER.test(file)) return ['dashboard', 'guard'];
  if (SAID_BY_GUARD.test(file)) return ['guard'];
  return SAID_BY_BOTH.test(file) ? ['dashboard', 'guard'] : ['dashboard'];
}
