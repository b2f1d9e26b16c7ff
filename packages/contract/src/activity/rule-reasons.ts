/**
 * The reasons of refused requests by the name of the rule. The names are an interface: the log, exports and responses
 * contain them. For a name with a colon that is not listed, the entry of the part before the colon applies.
 */
export const ruleReasons: Readonly<Record<string, string>> = {
  'blocked-visitor': 'Refused: this visitor is blocked.',
  'own-files': 'Refused: the files of this plugin can’t be opened by their address.',
  'login-access': 'Refused: this address is not on the list of Login Access.',
  'away-mode': 'Refused: Away Mode is on.',
  'login-limit': 'Refused: too many wrong passwords.',
  'other-site': 'Refused: the login was sent from a page of another site.',
  'xml-rpc': 'Refused: XML-RPC is off.',
  'system-folders': 'Refused: scripts can’t run in system folders, and sensitive files are not shown.',
  'file-editors': 'Refused: the editors of themes and plugins are off.',
  feeds: 'Refused: feeds are off.',
  readme: 'Refused: the readme file is not shown.',
  'wordpress-version': 'Refused: files that tell the version of WordPress are not shown.',
  'security-headers': 'Refused: the request does not fit the protection against scripts.',
  'unknown-host': 'Refused: the request was for a host name that this server does not serve.',
  'site-quarantined': 'Refused: the site is closed until an error in its configuration is corrected.',
  ambiguous: 'Refused: the request can be read in more than one way.',
  malformed: 'Refused: the request is not valid HTTP.',
  'ambiguous:target-too-long': 'Refused: the address is too long.',
  'ambiguous:login-query': 'Refused: the address of the login is too long.',
  'ambiguous:context': 'Refused: the address is too long.',
  'ambiguous:method': 'Refused: this method is not allowed.',
  'malformed:408': 'Refused: the request took too long to arrive.',
  'malformed:431': 'Refused: the headers of the request are too long.',
};

/** For rules without an entry in this version. */
const OTHER_REFUSAL = 'Refused by a protection of this site.';

/** For requests with a wrong password. */
export const FAILED_LOGIN_REASON = 'Failed login: the password was not accepted.';

/** Returns the reason for a refusal as a sentence; empty if no rule refused the request. */
export function ruleReason(rule: string | null): string {
  if (rule === null) return '';
  const cut = rule.indexOf(':');
  return ruleReasons[rule] ?? (cut === -1 ? undefined : ruleReasons[rule.slice(0, cut)]) ?? OTHER_REFUSAL;
}
