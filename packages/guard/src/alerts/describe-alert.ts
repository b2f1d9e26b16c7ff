import { alertChannels } from '@security-optimizer/contract/alerts/catalogue';
import {
  fillMessage,
  getCount,
  type MessageLanguage,
  type ServerMessage,
  type ServerText,
} from '@security-optimizer/contract/server-message';
import { type MessageCode, serverMessages } from '@security-optimizer/contract/server-messages';
import type { Language } from '../i18n/language.js';
import { formatDayAndTime } from '../i18n/time-labels.js';
import { plainText, shortText } from '../lib/plain-text.js';
import type { NoticeFact } from '../mail/notice-mail.js';
import type { SecurityEvent } from '../security-events.js';
import { toLogUrl, toOwnPage, toPeriod, toProtectionPage } from './alert-links.js';
import { DAY, MINUTE, toDevice } from './alert-rules.js';
import type { AlertSite, AlertText } from './alert-text.js';
import { describeWave, type WaveAlert } from './describe-wave.js';

/** A login of an administrator, and what was new about it. */
type NewLoginAlert = Extract<SecurityEvent, { kind: 'administrator-login' }> & {
  readonly unknown: 'device' | 'network' | 'both';
};

/** What owners are alerted to. Stored as JSON until it is delivered. */
export type Alert = Exclude<SecurityEvent, { kind: 'lockout' | 'administrator-login' }> | NewLoginAlert | WaveAlert;

/** Maximum length of a name that visitors or users have chosen, characters. */
const NAME_MAX = 80;

/** Describes an alert for people. Text of visitors and users in it is plain and short, and names no login address. */
export function describeAlert(alert: Alert, site: AlertSite): AlertText {
  const text = describeEvent(alert, site);
  if (text.namesSite) return text;
  const name = shortText(site.redact(site.name), NAME_MAX);
  return { ...text, facts: [{ name: site.language.translate('Site'), value: name }, ...text.facts] };
}

/** Returns the address from which an event was caused, or null. */
export function getAddress(alert: Alert): string | null {
  const { address = null } = alert as { readonly address?: string | null };
  return address === '' ? null : address;
}

/** Returns by whom and from where, for a list of alerts; empty when it is not known. */
export function describeCause(alert: Alert, site: AlertSite): string {
  const { by = null } = alert as { readonly by?: string | null };
  // Only this headline does not name what was added.
  const added = alert.kind === 'new-administrator' ? alert.login : null;
  return [added, by, getAddress(alert)]
    .filter((text) => text !== null)
    .map((text) => shortText(site.redact(text), NAME_MAX))
    .join(', ');
}

function describeEvent(alert: Alert, site: AlertSite): AlertText {
  const { language, timeZone } = site;
  const { translate } = language;
  const toShown = (text: string | null) => (text === null ? '' : shortText(site.redact(text), NAME_MAX));
  const when: NoticeFact = { name: translate('When'), value: formatDayAndTime(language, timeZone, alert.at) };
  const from = (address: string | null): NoticeFact[] =>
    address === null || address === ''
      ? []
      : [{ name: translate('From'), value: toShown(address), mono: true, ...toDetail(site.hostnames?.get(address)) }];
  const toDetail = (host: string | undefined) => (host === undefined ? {} : { detail: toShown(host) });
  const toWho = ({ by, address }: { readonly by: string | null; readonly address: string | null }) => {
    if (by !== null) return toShown(by);
    return address === null ? translate('A program on the server') : translate('A visitor who was not logged in');
  };
  const by = (cause: Parameters<typeof toWho>[0]): NoticeFact[] => [{ name: translate('By'), value: toWho(cause) }];
  const activity = toActivity(alert);
  const toLink = (filter: Parameters<typeof toLogUrl>[1], label = translate('See it in the log')) => {
    const href = toLogUrl(site, filter);
    return href === null ? null : { href, label };
  };
  const seeLog = toLink({
    ...{ tab: 'registered', from: alert.at, to: alert.at },
    ...(activity === undefined ? {} : { activity }),
  });
  const nothingToDo = translate('If you or your team did this, there is nothing to do.');
  const notYou = translate('Was it not you?');

  switch (alert.kind) {
    case 'new-administrator': {
      const checkup = site.page(toOwnPage('post-hack-actions'));
      return {
        severity: 'critical',
        namesSite: true,
        headline: translate('{site} has a new administrator', { site: toShown(site.name) }),
        lead: nothingToDo,
        facts: [
          { name: translate('Login'), value: toShown(alert.login), strong: true },
          {
            name: alert.promoted ? translate('Promoted by') : translate('Created by'),
            value: toWho(alert),
          },
          ...from(alert.address),
          when,
        ],
        log: seeLog?.href ?? null,
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
          { name: translate('Login'), value: toShown(alert.login), strong: true },
          {
            name: translate('Device'),
            value: device === null ? translate('Not known') : translate('{browser} on {system}', device),
          },
          ...from(alert.address),
          when,
        ],
        log: seeLog?.href ?? null,
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
      // A weekly checkup finds what has changed since the last one.
      const before = toLink({ tab: 'registered', from: alert.at - 7 * DAY }, translate('See the week in the log'));
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
          ...(found > FINDINGS_MAX
            ? [{ name: translate('Further findings'), value: language.number(found - FINDINGS_MAX) }]
            : []),
          when,
        ],
        log: before?.href ?? null,
        task: {
          kind: 'warn',
          title: translate('What to do'),
          text:
            found > 0
              ? translate('The checkup shows each finding with what puts it right.')
              : translate('The checkup says which check could not run, and why.'),
          button: checkup === null ? null : { href: checkup, label: translate('Open the checkup') },
          ...(before === null ? {} : { more: before }),
        },
      };
    }
    case 'protection-off': {
      const page = toProtectionPage(alert.protection, site);
      const isLog = alert.protection === 'Activity log';
      return {
        severity: isLog ? 'critical' : 'warning',
        headline:
          alert.until === null
            ? translate('{protection} is switched off', { protection: inLanguage(alert.protection, language) })
            : translate('All protections are paused until {time}', {
                time: formatDayAndTime(language, timeZone, alert.until),
              }),
        lead: nothingToDo,
        facts: [...by(alert), ...from(alert.address), when],
        log: seeLog?.href ?? null,
        task: {
          kind: 'warn',
          title: notYou,
          text:
            alert.until === null
              ? `${translate('Switch it on again, and find out who did it.')}${isLog ? ` ${translate('Until then there are no alerts about users, logins and plugins.')}` : ''}`
              : translate('The protections come back by themselves. Ask your hosting provider who paused them.'),
          button: seeLog,
          ...(page === null ? {} : { more: { href: page, label: translate('Open the setting') } }),
        },
      };
    }
    case 'alerts-changed': {
      const row = alertChannels.find(({ channel }) => channel === alert.recipient);
      const recipient = row === undefined ? toShown(alert.recipient) : translate(row.title);
      const page = toLogUrl(site, { tab: 'weekly-reports' });
      const none = translate('{recipient} gets no more alerts', { recipient });
      const headlines = {
        ...{ removed: none, off: none },
        fewer: translate('{recipient} gets fewer alerts', { recipient }),
        changed: translate('The alert channel {recipient} was changed', { recipient }),
      };
      return {
        severity: 'critical',
        headline: headlines[alert.change],
        lead: nothingToDo,
        facts: [...by(alert), ...from(alert.address), when],
        log: seeLog?.href ?? null,
        task: {
          kind: 'warn',
          title: notYou,
          text: translate('Somebody may want to go unnoticed. Look at the alerts, and force a password reset.'),
          button: page === null ? null : { href: page, label: translate('Open the alerts') },
          ...(seeLog === null ? {} : { more: seeLog }),
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
        facts: [...by(alert), ...from(alert.address), when],
        log: seeLog?.href ?? null,
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
        log: seeLog?.href ?? null,
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
      const { until = null } = alert;
      const visits = toLink({ tab: 'unknown', from: alert.at, ...(until === null ? {} : { to: until }) });
      return {
        severity: 'critical',
        namesSite: true,
        headline:
          until === null
            ? translate('The protection of {site} has trouble', { site: toShown(site.name) })
            : language.counted(
                'The protection of {site} did not run for {count} minute',
                'The protection of {site} did not run for {count} minutes',
                Math.round((until - alert.at) / MINUTE),
                { site: toShown(site.name) },
              ),
        lead:
          until === null
            ? plainText(inLanguage(alert.text, language), 300)
            : translate('Meanwhile visitors saw an error page, or reached the site without this protection.'),
        facts: until === null ? [when] : [toPeriod(site, alert.at, until)],
        log: visits?.href ?? null,
        task: {
          kind: 'warn',
          title: translate('What to do'),
          text:
            until === null
              ? translate('Look whether the site opens. If it does not, or this lasts, ask your hosting provider.')
              : translate('Look whether the site opens, and ask your hosting provider why it stopped.'),
          button: dashboard === null ? null : { href: dashboard, label: translate('Open the dashboard') },
          ...(visits === null ? {} : { more: visits }),
        },
      };
    }
  }
}

const FINDINGS_MAX = 10;

/** Returns the event kind in the Activity Log that an alert is about; undefined when there is not exactly one. */
function toActivity(alert: Alert): string | undefined {
  switch (alert.kind) {
    case 'new-administrator':
      return alert.promoted ? 'user.role' : 'user.created';
    case 'administrator-login':
      return 'login';
    case 'protection-off':
    case 'alerts-changed':
      return 'product.setting';
    case 'software-added':
      if (alert.software === 'theme' && alert.action === 'activated') return 'theme.switched';
      return `${alert.software}.${alert.action}`;
    default:
      return undefined;
  }
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
