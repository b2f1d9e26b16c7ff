/** Guard's pages, responses and mails: texts that guard translates to the language of the site. */
const SAID_BY_GUARD =
  /^packages\/guard\/src\/(?:(?:pages|i18n|gateway|two-factor(?!\/two-factor-settings)|reports)\/|post-hack\/reset-mail\.|alerts\/(?:describe-alert|compose-mail)\.|activity\/security-events\.)/;
/** Texts of these files go into API responses, and some of them into mails. */
const SAID_TO_OWNER =
  /\/guard\/src\/(?:reports\/(?:recipients|report-sender|make-report)|wordpress\/connector-error)\.ts$/;
/** The contract's texts and the names of the essentials appear on pages of the dashboard and in guard's mails. */
const SAID_BY_BOTH = /^packages\/(?:contract\/|guard\/src\/settings\/essentials\.ts$)/;

/**
 * Returns which parts look a text up, by the files that contain it. Other texts of guard travel to the dashboard in
 * English.
 *
 * @param {string[]} files
 * @returns {Set<'dashboard' | 'connector' | 'guard'>}
 */
export function listReaders(files) {
  return new Set(files.flatMap(readersOfOne));
}

function readersOfOne(file) {
  if (file.endsWith('/activity/class-settings.php')) return ['dashboard'];
  if (file.endsWith('.php')) return ['connector'];
  if (SAID_TO_OWNER.test(file)) return ['dashboard', 'guard'];
  if (SAID_BY_GUARD.test(file)) return ['guard'];
  return SAID_BY_BOTH.test(file) ? ['dashboard', 'guard'] : ['dashboard'];
}
