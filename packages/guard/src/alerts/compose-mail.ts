import { type AlertKind, alertKinds } from '@security-optimizer/contract/alerts/catalogue';
import type { Language } from '../i18n/language.js';
import { formatClockTime, formatDayAndTime, isSameDay } from '../i18n/time-labels.js';
import type { Notice } from '../mail/notice-mail.js';
import { toLogUrl } from './alert-links.js';
import type { Overflow } from './alert-queue.js';
import { isUrgent, MINUTE } from './alert-rules.js';
import type { AlertSite, AlertText } from './alert-text.js';
import { type Alert, describeAlert, describeCause } from './describe-alert.js';

/** Alerts that a message lists one by one; of more, it has the number of each kind and the latest. */
const LISTED_MAX = 20;
const SEVERITIES = ['critical', 'warning', 'info'] as const;
type Described = { readonly alert: Alert; readonly text: AlertText };
/** The most important first. */
const rank = ({ alert, text }: Described): number =>
  SEVERITIES.indexOf(text.severity) * 2 + (isUrgent(toKind(alert)) ? 0 : 1);

/** The content of one message to a person: one alert or several. */
export interface Composed {
  /** The alert, or the summary of several. */
  readonly text: AlertText;
  readonly notice: Notice;
  readonly language: Language;
}

/**
 * Composes the message of some alerts to a person.
 * @param alerts not empty, oldest first
 * @param overflow alerts of which only the number is known
 * @param to the recipient, the hourly limit, and the present time
 */
export function composeMail(
  alerts: readonly Alert[],
  overflow: readonly Overflow[],
  site: AlertSite,
  to: { readonly email: string; readonly perHour: number; readonly now: number },
): Composed {
  const { language, timeZone, name } = site;
  const { translate, counted } = language;
  const [first] = alerts as [Alert, ...Alert[]];
  const count = alerts.length + countOverflow(overflow);
  const text = count === 1 ? describeAlert(first, site) : describeDigest(alerts, overflow, site);
  const choose = toLogUrl(site, { tab: 'weekly-reports' });
  const isWave = count === 1 && first.kind === 'lockout-wave';
  const together = (number: number) =>
    counted(
      '{count} alert came together in this mail: you get at most {most} an hour.',
      '{count} alerts came together in this mail: you get at most {most} an hour.',
      number,
      { most: to.perHour },
    );
  return {
    text,
    language,
    notice: {
      ...text,
      subject: text.namesSite
        ? text.headline
        : translate('{site}: {headline}', { site: name, headline: text.headline }),
      date: formatDayAndTime(language, timeZone, to.now),
      reason: isWave
        ? together(first.addresses)
        : count === 1
          ? translate('You get this alert because {email} asked for it on {site}.', { email: to.email, site: name })
          : together(count),
      ...(choose === null ? {} : { reasonLink: { href: choose, label: translate('Change what you get') } }),
    },
  };
}

/**
 * Describes several alerts in one message. They are listed one by one, or by the numbers of each kind with the latest
 * ones. The task is that of the most urgent one.
 * @param alerts not empty, oldest first
 * @param overflow alerts of which only the number is known
 */
export function describeDigest(alerts: readonly Alert[], overflow: readonly Overflow[], site: AlertSite): AlertText {
  const { language, timeZone, name } = site;
  const { translate, counted, number } = language;
  const described = alerts.map((alert) => ({ alert, text: describeAlert(alert, site) }));
  const [urgent] = [...described].sort((one, other) => rank(one) - rank(other)) as [(typeof described)[number]];
  const count = alerts.length + countOverflow(overflow);
  const times = alerts.map(({ at }) => at);
  const isOneDay = isSameDay(timeZone, Math.min(...times), Math.max(...times));
  const toTime = isOneDay ? formatClockTime : formatDayAndTime;
  const listed = [...described]
    .sort((one, other) => rank(one) - rank(other) || other.alert.at - one.alert.at)
    .slice(0, LISTED_MAX);
  if (count <= LISTED_MAX) listed.sort((one, other) => one.alert.at - other.alert.at);
  const lines = listed.map(({ alert, text }) => ({
    name: toTime(language, timeZone, alert.at),
    value: [text.headline, describeCause(alert, site)].filter((part) => part !== '').join(' · '),
  }));
  const kinds = alertKinds
    .map(({ kind, title }) => ({
      name: translate(title),
      count:
        alerts.filter((alert) => toKind(alert) === kind).length +
        countOverflow(overflow.filter((row) => row.kind === kind)),
    }))
    .filter((row) => row.count > 0);
  const since = Math.min(...times, ...overflow.map((row) => row.since));
  const log = toLogUrl(site, { tab: 'registered', from: since, to: Math.max(...times) + MINUTE });
  const { button, ...task } = urgent.text.task;
  return {
    severity: urgent.text.severity,
    namesSite: true,
    headline: counted('{count} alert of {site}', '{count} alerts of {site}', count, { site: name }),
    lead: translate('The most urgent one: {headline}.', { headline: urgent.text.headline }),
    facts: count <= LISTED_MAX ? lines : kinds.map((row) => ({ name: row.name, value: number(row.count) })),
    ...(count <= LISTED_MAX
      ? {}
      : { list: { title: translate('The most important of them'), rows: lines, plain: true } }),
    log,
    task: {
      ...task,
      button,
      ...(log === null ? {} : { more: { href: log, label: translate('See them in the log') } }),
    },
  };
}

/** Returns the kind in the catalogue. */
export function toKind(alert: Alert): AlertKind {
  return alert.kind === 'alerts-changed' ? 'protection-off' : alert.kind;
}

/** Number of alerts of which only the number is known. */
export function countOverflow(overflow: readonly Overflow[]): number {
  return overflow.reduce((sum, { count }) => sum + count, 0);
}

/** Returns a test message in the form of an alert. */
export function describeTest(site: AlertSite, now: number): AlertText {
  const { language, timeZone, name } = site;
  const { translate } = language;
  const choose = toLogUrl(site, { tab: 'weekly-reports' });
  return {
    severity: 'info',
    namesSite: true,
    headline: translate('This is a test from {site}', { site: name }),
    lead: translate('Alerts arrive here. There is nothing to do.'),
    facts: [{ name: translate('When'), value: formatDayAndTime(language, timeZone, now) }],
    log: null,
    task: {
      kind: 'info',
      title: translate('It works'),
      text: translate('You see alerts like this one when something happens on your site.'),
      button: choose === null ? null : { href: choose, label: translate('Change what you get') },
    },
  };
}

/** Composes the test as a message to a person. */
export function composeTest(text: AlertText, { language, name }: AlertSite, email: string): Composed {
  const { translate } = language;
  const [when] = text.facts;
  return {
    text,
    language,
    notice: {
      ...text,
      subject: text.headline,
      date: when?.value ?? '',
      reason: translate('You get this alert because {email} asked for it on {site}.', { email, site: name }),
    },
  };
}
