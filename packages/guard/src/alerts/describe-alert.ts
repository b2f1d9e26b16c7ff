import { toLogPath } from '@security-optimizer/contract/activity/log-address';
import {
  fillMessage,
  getCount,
  type MessageLanguage,
  type ServerMessage,
  type ServerText,
} from '@security-optimizer/contract/server-message';
import { type MessageCode, serverMessages } from '@security-optimizer/contract/server-messages';
import type { Language } from '../i18n/language.js';
import { formatClockTime, formatDayAndTime, isSameDay } from '../i18n/time-labels.js';
import { plainText, shortText } from '../lib/plain-text.js';
import type { NoticeFact, NoticeList, NoticeTask } from '../mail/notice-mail.js';
import type { SecurityEvent } from '../security-events.js';
import { toDevice } from './alert-rules.js';

/** A wave of lockouts, reported in place of the single ones. */
export interface WaveAlert {
  readonly kind: 'lockout-wave';
  readonly uid: string;
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly addresses: number;
  readonly failures: number;
  /** The smallest network that contains all addresses, or null. */
  readonly network: string | null;
  /** Attacked accounts that the log contains, most attempts first, with the number of attempts. */
  readonly names: readonly { readonly login: string; readonly failures: number }[];
  /** Whether a login from one of the addresses succeeded; null when the log can't be read. */
  readonly gotIn: boolean | null;
}

/** A login of an administrator, and what was new about it. */
type NewLoginAlert = Extract<SecurityEvent, { kind: 'administrator-login' }> & {
  readonly unknown: 'device' | 'network' | 'both';
};

/** What owners are alerted to. Stored as JSON until it is delivered. */
export type Alert = Exclude<SecurityEvent, { kind: 'lockout' | 'administrator-login' }> | NewLoginAlert | WaveAlert;

/** A described alert, in the language of the site. All fields are plain text. */
export interface AlertText {
  readonly severity: 'critical' | 'warning' | 'info';
  readonly headline: string;
  /** Explains the event. */
  readonly lead: string;
  readonly facts: readonly NoticeFact[];
  readonly list?: NoticeList;
  /** The task of the owner. */
  readonly task: NoticeTask;
}

export interface AlertSite {
  /** `example.com` or `example.com/blog`. */
  readonly name: string;
  /** URL of the site; empty while it is unknown. */
  readonly url: string;
  readonly language: Language;
  readonly timeZone: string;
  /** Returns the URL of a page of wp-admin, for example `plugins.php`; null while the URL of the site is unknown. */
  readonly page: (name: string) => string | null;
  /** Redacts present and former login addresses in a text. */
  readonly redact: (text: string) => string;
}

/** Maximum length of a name that visitors or users have chosen, characters. */
const NAME_MAX = 80;

/** Describes an alert for people. Text of visitors and users in it is plain and short, and names no login address. */
export function describeAlert(alert: Alert, site: AlertSite): AlertText {
  const { language, timeZone } = site;
  const { translate } = language;
  const toShown = (text: string | null) => (text === null ? '' : shortText(site.redact(text), NAME_MAX));
  const when: NoticeFact = { name: translate('When'), value: formatDayAndTime(language, timeZone, alert.at) };
  const from = (address: string | null): NoticeFact[] =>
    address === null || address === '' ? [] : [{ name: translate('From'), value: toShown(address), mono: true }];
  const by = (who: string | null): NoticeFact[] => [
    { name: translate('By'), value: who === null ? translate('A program on the server') : toShown(who) },
  ];
  const activity = toActivity(alert);
  const users = toLogUrl(site, { tab: 'registered', from: alert.at, ...(activity === undefined ? {} : { activity }) });
  const seeLog = users === null ? null : { href: users, label: translate('See it in the log') };
  const nothingToDo = translate('If you or your team did this, there is nothing to do.');
  const notYou = translate('Was it not you?');

  switch (alert.kind) {
    case 'new-administrator': {
      const checkup = site.page(toOwnPage('post-hack-actions'));
      return {
        severity: 'critical',
        headline: translate('{site} has a new administrator', { site: toShown(site.name) }),
        lead: nothingToDo,
        facts: [
          { name: translate('Login'), value: toShown(alert.login) },
          {
            name: alert.promoted ? translate('Promoted by') : translate('Created by'),
            value: alert.by === null ? translate('A program on the server') : toShown(alert.by),
          },
          ...from(alert.address),
          when,
        ],
        task: {
          kind: 'warn',
          title: notYou,
          text: translate(
            'Open the checkup, remove the account there, then force a password reset. Everyone is logged out by the reset.',
          ),
          button: checkup === null ? null : { href: checkup, label: translate('Open the checkup') },
          ...(seeLog === null ? {} : { more: seeLog }),
        },
      };
    }
    case 'administrator-login': {
      const device = toDevice(alert.agent);
      const headlines = {
        device: translate('{login} logged in on a new device', { login: toShown(alert.login) }),
        network: translate('{login} logged in from a new network', { login: toShown(alert.login) }),
        both: translate('{login} logged in on a new device and from a new network', { login: toShown(alert.login) }),
      };
      return {
        severity: 'warning',
        headline: headlines[alert.unknown],
        lead: translate('If it was this person, there is nothing to do.'),
        facts: [
          { name: translate('Login'), value: toShown(alert.login) },
          {
            name: translate('Device'),
            value: device === null ? translate('Not known') : translate('{browser} on {system}', device),
          },
          ...from(alert.address),
          when,
        ],
        task: {
          kind: 'warn',
          title: notYou,
          text: translate('Force a password reset. Everyone is logged out by it, and old passwords stop working.'),
          button: seeLog,
        },
      };
    }
    case 'lockout-wave':
      return describeWave(alert, site, toShown);
    case 'checkup-finding': {
      const checkup = site.page(toOwnPage('post-hack-actions'));
      const found = alert.findings.length;
      const incomplete = alert.ran < alert.checks;
      const ran = translate('{ran} of {checks} checks ran.', { ran: alert.ran, checks: alert.checks });
      return {
        severity: found > 0 ? 'critical' : 'warning',
        headline:
          found > 0
            ? language.counted('The checkup found {count} new thing', 'The checkup found {count} new things', found)
            : translate('The checkup could not run completely'),
        lead: incomplete ? ran : translate('Look at it soon: somebody may have changed your site.'),
        facts: [
          ...alert.findings.slice(0, FINDINGS_MAX).map((text, index) => ({
            name: translate('Finding {number}', { number: index + 1 }),
            value: toShown(inLanguage(text, language)),
          })),
          when,
        ],
        task: {
          kind: 'warn',
          title: translate('What to do'),
          text:
            found > 0
              ? translate('The checkup shows each finding with what puts it right.')
              : translate('The checkup says which check could not run, and why.'),
          button: checkup === null ? null : { href: checkup, label: translate('Open the checkup') },
        },
      };
    }
    case 'protection-off': {
      const page = toProtectionPage(alert.protection, site);
      return {
        severity: 'warning',
        headline:
          alert.until === null
            ? translate('{protection} is switched off', { protection: inLanguage(alert.protection, language) })
            : translate('All protections are paused until {time}', {
                time: formatDayAndTime(language, timeZone, alert.until),
              }),
        lead: nothingToDo,
        facts: [...by(alert.by), ...from(alert.address), when],
        task: {
          kind: 'warn',
          title: notYou,
          text:
            alert.until === null
              ? translate('Switch it on again, and find out who did it.')
              : translate('The protections come back by themselves. Ask your hosting provider who paused them.'),
          button: seeLog,
          ...(page === null ? {} : { more: { href: page, label: translate('Open the setting') } }),
        },
      };
    }
    case 'software-added': {
      const { software, action } = alert;
      const name = toShown(alert.name);
      const headlines = {
        plugin: {
          installed: translate('The plugin {name} was installed', { name }),
          activated: translate('The plugin {name} was switched on', { name }),
        },
        theme: {
          installed: translate('The theme {name} was installed', { name }),
          activated: translate('The theme {name} was switched on', { name }),
        },
      };
      return {
        severity: 'info',
        headline: headlines[software][action],
        lead: nothingToDo,
        facts: [...by(alert.by), ...from(alert.address), when],
        task: {
          kind: 'warn',
          title: notYou,
          text: translate(
            'Switch it off and delete it, then open the checkup. A plugin can do everything on your site.',
          ),
          button: seeLog,
        },
      };
    }
    case 'vulnerability-found': {
      const updates = site.page('update-core.php');
      const name = toShown(alert.name);
      return {
        severity: 'critical',
        headline: translate('{name} {version} has a known hole', { name, version: toShown(alert.version) }),
        lead: translate('Attackers look for sites with this version.'),
        facts: [when],
        task: {
          kind: 'warn',
          title: translate('What to do'),
          text:
            alert.fixedIn === null
              ? translate('No update closes it yet. Switch {name} off until there is one.', { name })
              : translate('Update to {version} or newer.', { version: toShown(alert.fixedIn) }),
          button: updates === null ? null : { href: updates, label: translate('Open the updates') },
        },
      };
    }
    case 'trouble': {
      const dashboard = site.page(toOwnPage('security-optimizer'));
      return {
        severity: 'critical',
        headline: translate('The protection of {site} has trouble', { site: toShown(site.name) }),
        lead: plainText(inLanguage(alert.text, language), 300),
        facts: [when],
        task: {
          kind: 'warn',
          title: translate('What to do'),
          text: translate('Look whether the site opens. If it does not, or this lasts, ask your hosting provider.'),
          button: dashboard === null ? null : { href: dashboard, label: translate('Open the dashboard') },
        },
      };
    }
  }
}

const FINDINGS_MAX = 10;

function describeWave(alert: WaveAlert, site: AlertSite, toShown: (text: string) => string): AlertText {
  const { language, timeZone } = site;
  const { translate, counted } = language;
  const clock = (at: number) =>
    isSameDay(timeZone, alert.from, alert.to)
      ? formatClockTime(language, timeZone, at)
      : formatDayAndTime(language, timeZone, at);
  const { addresses, failures, network, gotIn } = alert;
  const tried = counted('They tried {count} password', 'They tried {count} passwords', failures);
  const link = toLogUrl(site, { tab: 'registered', activity: 'login.locked', from: alert.from });
  const button = {
    href: link ?? '',
    label: network === null ? translate('See them in the log') : translate('Look at the network'),
  };
  const leads = {
    yes: translate('{tried}, and somebody has logged in from one of these addresses. Look at it now.', { tried }),
    no: translate('{tried} and none was right. You don’t need to do anything.', { tried }),
    unknown: translate('{tried}. You don’t need to do anything.', { tried }),
  };
  return {
    severity: gotIn === true ? 'critical' : 'info',
    headline: counted('{count} address was locked in 1 hour', '{count} addresses were locked in 1 hour', addresses),
    lead: leads[gotIn === null ? 'unknown' : gotIn ? 'yes' : 'no'],
    facts: [
      {
        name: translate('Between'),
        value: translate('{from} and {to}', { from: clock(alert.from), to: clock(alert.to) }),
      },
      { name: translate('Locked'), value: translate('for 1 hour, then 24 hours, then 7 days') },
    ],
    ...(alert.names.length === 0
      ? {}
      : {
          list: {
            title: translate('Names they tried'),
            rows: alert.names.slice(0, NAMES_MAX).map(({ login, failures: count }) => ({
              name: toShown(login),
              value: counted('{count} wrong password', '{count} wrong passwords', count),
            })),
          },
        }),
    task: {
      kind: gotIn === true ? 'warn' : 'info',
      title:
        network === null
          ? translate('They stay locked')
          : translate('All {count} come from one network', { count: addresses }),
      text:
        network === null
          ? translate('Each one waits longer after more wrong passwords. Block those that come back.')
          : translate('Block {network} to end it.', { network }),
      button: link === null ? null : button,
    },
  };
}

const NAMES_MAX = 5;

/**
 * Returns the URL of the Activity Log with filters. The tab is in the fragment, too, where older dashboards read it.
 * @returns null while the URL of the site is unknown
 */
export function toLogUrl(
  site: Pick<AlertSite, 'page'>,
  filter: {
    readonly tab: 'registered' | 'weekly-reports';
    /** Id of an event kind. */
    readonly activity?: string;
    /** Milliseconds since the Unix epoch. */
    readonly from?: number;
  },
): string | null {
  const { tab, activity, from } = filter;
  const filters = {
    ...(from === undefined ? {} : { from: String(Math.floor(from / 1000)) }),
    ...(activity === undefined ? {} : { activity }),
  };
  return site.page(`${toLogPath({ tab, filters })}#${tab}`);
}

/** Returns the event kind in the Activity Log that an alert is about; undefined when there is not exactly one. */
function toActivity(alert: Alert): string | undefined {
  switch (alert.kind) {
    case 'new-administrator':
      return alert.promoted ? 'user.role' : 'user.created';
    case 'administrator-login':
      return 'login';
    case 'protection-off':
      return 'product.setting';
    case 'software-added':
      if (alert.software === 'theme' && alert.action === 'activated') return 'theme.switched';
      return `${alert.software}.${alert.action}`;
    default:
      return undefined;
  }
}

/** Returns the URL of the page with the switch of a protection. */
function toProtectionPage(protection: string, { page }: AlertSite): string | null {
  const login = ['Login Access', 'Custom Login URL', 'Limit Login Attempts', 'Disable Common Usernames'];
  if (protection === 'All protections') return null;
  if (protection === 'Activity log') return page(`${toOwnPage('activity-log')}#log-settings`);
  const isLogin = login.includes(protection) || protection.startsWith('Two-factor');
  return page(toOwnPage(isLogin ? 'login-settings' : 'site-security'));
}

/** Returns a page of this product, relative to wp-admin. */
function toOwnPage(slug: string): string {
  return `admin.php?page=${slug}`;
}

/** Translates a server message to the language of the site. */
export function inLanguage(text: ServerText, language: Language): string {
  const { translate: translateKnown, counted: countKnown, number } = language;
  const messageLanguage: MessageLanguage = {
    translate: (known) => translateKnown(known),
    number,
    time: (time) => time,
    message: (message) => formatMessage(message),
  };
  function formatMessage({ english, code, params }: ServerMessage): string {
    const entry: string | { readonly one: string; readonly other: string } | undefined =
      serverMessages[code as MessageCode];
    if (entry === undefined) return english;
    const template =
      typeof entry === 'string' ? translateKnown(entry) : countKnown(entry.one, entry.other, getCount(params) ?? 0);
    return fillMessage(template, params, messageLanguage);
  }
  return typeof text === 'string' ? translateKnown(text) : formatMessage(text);
}
