import { HUMAN } from '@security-optimizer/contract/activity/schemas';
import { isbot, isbotMatches } from 'isbot';
import { botName, claimedSearchEngine } from './bots.js';

/** No user agent was sent. */
const UNKNOWN = 'Unknown';
/** Claims to be a search engine, but DNS has not verified it, or not yet. */
const UNVERIFIED_BOT = 'Unverified bot';
/** A bot that no list names. */
const OTHER_BOT = 'Other bot';
/** Looks for vulnerabilities: a scanner that no list names, or an agent that is itself an attack. */
const SCANNER = 'Scanner';
/** Any other program: neither a browser nor a known bot. */
const OTHER = 'Other';

/**
 * Returns the type of a visitor by its agent: `Human` for an agent that looks like that of a browser, `Unknown` without
 * an agent, `Scanner`, `Other`, or else the name of a bot. The package isbot decides whether it is a bot; its name is
 * an entry of crawler-user-agents. The number of types is therefore bounded, whatever clients send. Takes from some
 * microseconds to some dozen: call it once per agent.
 *
 * @param agent as sent, at most 300 characters
 * @param verifiedBot name of the search engine that DNS verified for this visitor, or null
 */
export function visitorType(agent: string | null, verifiedBot: string | null): string {
  if (agent === null || agent.trim() === '') return UNKNOWN;
  if (isAttack(agent)) return SCANNER;
  const claimed = claimedSearchEngine(agent);
  if (claimed !== null) return claimed.name === verifiedBot ? (botName(agent) ?? claimed.name) : UNVERIFIED_BOT;
  const isBrowser = hasBrowserShape(agent);
  if (isbot(agent) && !(isBrowser && isMistakenForBot(agent))) {
    return botName(agent) ?? (SCANNER_NAME.test(agent) ? SCANNER : OTHER_BOT);
  }
  if (SCANNER_NAME.test(agent)) return SCANNER;
  return isBrowser ? HUMAN : OTHER;
}

/**
 * Parts of attacks that are sent as agents: SQL, markup, shell commands, templates, lookups, serialised objects, paths.
 * No browser or program has any of them in its agent. Every repetition is bounded.
 */
const ATTACKS: readonly RegExp[] = [
  /['"`)]\s{0,5}(?:or|and|xor|\|\|)\s{0,5}['"(]?\w{1,20}['")]?\s{0,5}(?:=|<|>|like\b|between\b|in\b|is\b)/i,
  /['"`)]\s{0,5}(?:order\s{1,5}by\b|group\s{1,5}by\b|having\b|union\b|limit\s\d|procedure\b|waitfor\b)|['"]\s{0,5}(?:;|--|#$)/i,
  /\bunion(?:\s|\+|%20|\/\*.{0,20}?\*\/){1,5}(?:all(?:\s|\+|%20|\/\*.{0,20}?\*\/){1,5})?select\b/i,
  /\b(?:sleep|pg_sleep|benchmark|extractvalue|updatexml|load_file|dbms_pipe\.receive_message|concat|char|chr)\s{0,3}\(/i,
  /\bwaitfor\s{1,5}delay\b|\bxp_cmdshell\b|\binformation_schema\b|\bselect\s.{1,60}\sfrom\b|\b(?:drop|insert\s{1,3}into|delete\s{1,3}from)\s/i,
  /<[/!?%]?\s{0,3}(?:script|img|svg|iframe|object|embed|body|html|a|h[1-6]|div|style|link|meta|input|video|marquee|php)\b|<[?%]|\bjavascript:|\bon(?:error|load|click|mouseover|focus)\s{0,3}=/i,
  /\$\{|\$\(|\{\{|#\{|%\{|\(\)\s{0,3}\{|`/,
  /(?:[;|&]|%0[ad])\s{0,3}(?:wget|curl|nc|bash|sh|ping|nslookup|cat|chmod|rm)\s{1,3}(?:[-/]|https?:|ftp:|\w{1,40}[.:])/i,
  /\.\.[/\\]|%2e%2e|%00|%0[ad]|\/etc\/(?:passwd|shadow|hosts|group)\b|\/proc\/self\b|\/bin\/(?:ba|da|z)?sh\b|\bcmd\.exe\b|c:\\windows\\/i,
  /\b(?:php|data|expect|file|phar|gopher|dict|ldaps?|rmi):\/\/|\b(?:eval|assert|system|exec|shell_exec|passthru|popen|phpinfo|base64_decode|file_get_contents)\s{0,3}\(/i,
  /\b[OaCs]:\d{1,6}:["{]/,
  /\\x[0-9a-f]{2}\\x|\\u00[0-9a-f]{2}|&#x?\d/i,
];

function isAttack(agent: string): boolean {
  return ATTACKS.some((pattern) => pattern.test(agent));
}

/** Names of scanners, including those that the list of bots lacks. */
const SCANNER_NAME =
  /\b(?:nikto|sqlmap|sqlninja|wpscan|nuclei|nessus|openvas|acunetix|netsparker|invicti|masscan|zgrab|nmap|zmeu|jorgee|morfeus|w3af|arachni|skipfish|dirbuster|dirsearch|gobuster|feroxbuster|ffuf|fuzz faster|wfuzz|commix|havij|jaeles|whatweb|webinspect|appscan|qualys|burp|zaproxy|owasp|l9explore|l9tcpid|droopescan|joomscan|cmsmap|grendel|pangolin|xsser|xspider|wapiti|libredtail|webshag|paros|detectify|internetmeasurement|expanse|censys)/i;

/** Systems and devices that browsers name in parentheses after their first product token, such as `Mozilla/5.0`. */
const SYSTEM =
  /(?:^|[\s;,(/])(?:windows|win(?:nt|9[58])|macintosh|mac_powerpc|linux|x11|wayland|android|iphone|ipad|ipod|cros|mobile;|tablet;|smart-?tv|smarthub|web0s|webos|hpwos|tizen|bada|blackberry|bb10|playbook|symbian(?:os)?|symbos|series ?[3-9]0|s60|meego|maemo|kaios|kindle|nintendo|playstation|xbox|psp|palmos|freebsd|openbsd|netbsd|dragonfly|sunos|solaris|haiku|beos|amiga(?:os)?|morphos|aros|os\/2|irix|hp-ux|aix|openharmony|harmonyos|phone;|fuchsia|j2me|java;|msie \d|konqueror\/)/i;
/** Characters of the parentheses that are examined. */
const SYSTEM_CHARACTERS = 160;
/** Engines and browsers after the parentheses, or within them for Microsoft's. */
const ENGINE =
  /applewebkit\/|gecko[/) ]|\blike gecko|khtml|trident\/|\bmsie \d|presto\/|\bopera[ /]\d|goanna\/|netfront|\bblink\/|servo\/|netpositive\/|ladybird\//i;
const CONSOLE = /^(?:playstation|psp|nintendo)/i;

/** Phones from before smartphones: their agent begins with the model, followed by Java's profile or a browser. */
const FEATURE_PHONE =
  /\bprofile\/midp|\bmidp-\d|\bcldc-\d|\bup\.(?:browser|link)\b|\bnetfront\/|\bobigo\b|\bsemc-browser\b|\bdolfin\/|\bucbrowser\/|^(?:docomo\/\d|kddi-|j-phone\/\d|softbank\/\d|vodafone\/\d|ucweb\/\d|nokia\w{1,12}\/|sonyericsson\w|blackberry\d|lge?-\w|mot-\w|samsung-\w|sec-\w|sie-\w|alcatel[-\w])/i;
/** Text browsers, and small browsers with an agent of their own. */
const OTHER_BROWSER =
  /^(?:lynx\/\d|links \(|e?links\/\d|w3m\/\d|dillo\/\d|netsurf\/\d|emacs-w3|surf\/\d|amaya\/\d|icab\/\d)/i;

/** Whether an agent looks like that of a browser that a person uses. */
function hasBrowserShape(agent: string): boolean {
  if (/^mozilla\/\d{1,2}\.\d|^opera\/\d{1,2}\./i.test(agent)) {
    const opening = agent.indexOf('(');
    const system = opening === -1 ? '' : agent.slice(opening + 1, opening + SYSTEM_CHARACTERS);
    if (!SYSTEM.test(system)) return false;
    // Netscape before version 5 names no engine, and neither do Opera's own agents and consoles.
    return ENGINE.test(agent) || /^(?:mozilla\/[1-4]\.|opera\/)/i.test(agent) || CONSOLE.test(system);
  }
  return FEATURE_PHONE.test(agent) || OTHER_BROWSER.test(agent);
}

/** What isbot considers a bot in agents of old browsers: Google's plug-in for Internet Explorer, and Java on phones. */
const NO_BOT = /^(?:chromeframe|java\w*|dillo\b.*|netsurf)$/i;

function isMistakenForBot(agent: string): boolean {
  return isbotMatches(agent).every((match) => NO_BOT.test(match));
}
