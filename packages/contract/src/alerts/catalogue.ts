/**
 * The catalogue of alerts: the kinds of events with their texts and thresholds, and the channels. The page, the choices
 * of a recipient, the checks of requests, the rules of delivery and the documentation follow it, so a new kind needs no
 * new screen. See docs/developer/alerts.md.
 */

/** A kind of alert, as the page shows it and as the rules treat it. */
interface AlertKindRow {
  /** Name in requests, responses, webhooks and the system log. */
  readonly kind: string;
  /** Name of the icon file without extension. */
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** Name in the list of a recipient's choices. */
  readonly short: { readonly inSentence: string };
  /** It is sent in quiet hours, too, and it is the last to go when too many alerts wait. */
  readonly urgent?: true;
  /** It is reported once there were so many events within so many minutes. Default: each event is reported. */
  readonly threshold?: { readonly events: number; readonly minutes: number };
  /** No feature reports it yet, so it is not offered. */
  readonly withoutSource?: true;
}

/** The kinds in the order of the page. */
export const alertKinds = [
  {
    kind: 'new-administrator',
    icon: 'user',
    title: 'A new administrator',
    help: 'Or somebody who becomes one.',
    short: { inSentence: 'new administrator' },
    urgent: true,
  },
  {
    kind: 'administrator-login',
    icon: 'key',
    title: 'An administrator on a new device',
    help: 'Or from a new network.',
    short: { inSentence: 'new device' },
  },
  {
    kind: 'lockout-wave',
    icon: 'lock',
    title: 'Many lockouts at once',
    help: '10 or more within 1 hour.',
    short: { inSentence: 'lockouts' },
    threshold: { events: 10, minutes: 60 },
  },
  {
    kind: 'checkup-finding',
    icon: 'search',
    title: 'A checkup finds something',
    help: 'Or could not run.',
    short: { inSentence: 'checkup' },
  },
  {
    kind: 'protection-off',
    icon: 'shield',
    title: 'A protection is switched off',
    help: 'Says who did it.',
    short: { inSentence: 'protection off' },
  },
  {
    kind: 'software-added',
    icon: 'plugin',
    title: 'A plugin is added or switched on',
    help: 'Also a theme.',
    short: { inSentence: 'plugins' },
  },
  {
    kind: 'vulnerability-found',
    icon: 'alert',
    title: 'A plugin has a known hole',
    help: 'With the update that closes it.',
    short: { inSentence: 'known holes' },
    withoutSource: true,
  },
  {
    kind: 'trouble',
    icon: 'plug',
    title: 'The protection itself has trouble',
    help: 'Also when WordPress is down.',
    short: { inSentence: 'trouble' },
    // One outage, three minutes long: a restart of the web server is shorter.
    threshold: { events: 1, minutes: 3 },
  },
] as const satisfies readonly AlertKindRow[];

export type AlertKind = (typeof alertKinds)[number]['kind'];

/** A channel other than mail. */
interface AlertChannelRow {
  readonly channel: string;
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /**
   * People get all waiting alerts in one message, as often as the owner allows. Programs get each alert in a message of
   * its own, up to `PROGRAM_ALERTS_PER_HOUR`, and several together from then on.
   */
  readonly readBy: 'people' | 'programs';
}

/** The channels other than mail, in the order of the page. */
export const alertChannels = [
  {
    channel: 'webhook',
    icon: 'link',
    title: 'Webhook',
    help: 'Sends each alert as signed JSON to a service of yours.',
    readBy: 'programs',
  },
  {
    channel: 'slack',
    icon: 'bell',
    title: 'Slack',
    help: 'Posts each alert to a channel. Also works with services that take the same format.',
    readBy: 'people',
  },
  {
    channel: 'syslog',
    icon: 'code',
    title: 'System log',
    help: 'Writes each alert to the log of the server, for your host.',
    readBy: 'programs',
  },
] as const satisfies readonly AlertChannelRow[];

export type AlertChannel = (typeof alertChannels)[number]['channel'];

/** Alerts that a webhook or a system log gets one by one within an hour. */
export const PROGRAM_ALERTS_PER_HOUR = 60;

/** Quiet hours in the site's time zone: start and end in minutes after midnight. */
export const QUIET_FROM = 22 * 60;
export const QUIET_TO = 7 * 60;

/** How the system log is reached: UDP, TCP (RFC 6587), or TCP with TLS (RFC 5425). */
export const SYSLOG_PROTOCOLS = ['udp', 'tcp', 'tls'] as const;
/** The end of a message by TCP: octet counting, or a line feed (RFC 6587). By TLS it is octet counting (RFC 5425). */
export const SYSLOG_FRAMINGS = ['octets', 'lf'] as const;
