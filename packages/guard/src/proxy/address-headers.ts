import { setBounded } from '../lib/set-bounded.js';

/** Words for the one who sends a request, as proxies, load balancers and delivery networks put them before an address. */
const WHO =
  'c|client|real|remote|true|connect(?:ing|ion)|source|src|visitor|viewer|customer|user|enduser|proxyuser|proxied|' +
  'orig(?:in|inal|inating)?|peer|socket|external|caller|requester|browser|downstream|pseudo';

/** `…-IP`, `…-IPv6`, `…-IPAddress`, and in one word, as in `ClientIP`. */
const IP = new RegExp(`(?:^|-)(?:${WHO})?ip(?:s|v[46]|addr(?:ess)?)?(?:-|$)`);
/** `Remote-Addr`, `Viewer-Address`, also with something between, and in one word. */
const ADDRESS = new RegExp(`(?:^|-)(?:${WHO})(?:(?:-[a-z0-9]+)*-)?addr(?:ess)?(?:-|$)`);
const FORWARDED = /forwarded|(?:^|-)(?:forward(?:er)?|fwd|xff|proxied-for)(?:-|$)/;

/** Where an address is, not which one it is. */
const PLACE = /(?:^|-)(?:continent|country|region|city|latitude|longitude|timezone)(?:-|$)/;
/** Addresses that no packet comes from. */
const OF_ANOTHER_KIND = /(?:^|-)(?:e?mail|mac|street|billing|shipping|delivery|postal|wallet)(?:-|$)/;

/** Names of this meaning that say so in no way that a rule could know. */
const OTHERS: ReadonlySet<string> = new Set(['x-coming-from', 'coming-from', 'rlnclientipaddr']);

/**
 * Whether a header is one by which proxies, load balancers and delivery networks name the client's address. WordPress,
 * plugins and libraries believe many of them from anybody, so none that a client sends reaches WordPress: guard writes
 * `X-Forwarded-For` and `X-Real-IP` itself. There is no end to such names, so this is a rule: a name says "forwarded", it
 * has the word IP, or the word address and one for whose it is. Where an address is (`Ip-Country`) is no address; nor are
 * a user's e-mail address and its kind.
 *
 * @param name lower-case, of letters, digits and hyphens
 */
export function isAddressHeader(name: string): boolean {
  const known = KNOWN.get(name);
  if (known !== undefined) return known;
  const is = namesAddress(name);
  if (name.length <= LONGEST) setBounded(KNOWN, name, is, MOST_KNOWN);
  return is;
}

/** Answers for names that have come, since this is asked of every header. Clients choose names, so it is bounded. */
const KNOWN = new Map<string, boolean>();
const MOST_KNOWN = 1000;

/** No program looks for a longer name, and looking through it could take long. */
const LONGEST = 100;

function namesAddress(name: string): boolean {
  if (name.length > LONGEST) return false;
  if (FORWARDED.test(name) || OTHERS.has(name)) return true;
  if (IP.test(name)) return !PLACE.test(name);
  return ADDRESS.test(name) && !OF_ANOTHER_KIND.test(name) && !PLACE.test(name);
}
