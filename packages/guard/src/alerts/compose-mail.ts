import type { Language } from '../i18n/language.js';
import { formatDayAndTime } from '../i18n/time-labels.js';
import type { Notice } from '../mail/notice-mail.js';
import { type Alert, type AlertSite, type AlertText, describeAlert, toLogUrl } from './describe-alert.js';

/** Alerts that a mail lists one by one; further ones are counted. */
const LISTED_MAX = 20;
const SEVERITIES = ['critical', 'warning', 'info'] as const;

/** The content of one message to a person: one alert or several. */
export interface Composed {
  /** Described alerts, the most urgent first. */
  readonly texts: readonly AlertText[];
  readonly notice: Notice;
  readonly language: Language;
}

/**
 * Composes the mail of some alerts. Several alerts are listed, followed by the task of the most urgent one.
 * @param alerts not empty, oldest first
 * @param to the recipient, the hourly limit, and the present time
 */
export function composeMail(
  alerts: readonly Alert[],
  site: AlertSite,
  to: { readonly email: string; readonly perHour: number; readonly now: number },
): Composed {
  const { language, timeZone, name } = site;
  const { translate, counted } = language;
  const described = alerts.map((alert) => ({ alert, text: describeAlert(alert, site) }));
  const sorted = [...described].sort(
    (one, other) => SEVERITIES.indexOf(one.text.severity) - SEVERITIES.indexOf(other.text.severity),
  );
  const [first] = sorted as [(typeof sorted)[number], ...typeof sorted];
  const choose = toLogUrl(site, { tab: 'weekly-reports' });
  const shared = {
    date: formatDayAndTime(language, timeZone, to.now),
    ...(choose === null ? {} : { reasonLink: { href: choose, label: translate('Change what you get') } }),
  };
  const together = (count: number) =>
    counted(
      '{count} alert came together in this mail: you get at most {most} an hour.',
      '{count} alerts came together in this mail: you get at most {most} an hour.',
      count,
      { most: to.perHour },
    );
  const texts = sorted.map(({ text }) => text);

  if (alerts.length === 1) {
    const { text, alert } = first;
    const isWave = alert.kind === 'lockout-wave';
    return {
      texts,
      language,
      notice: {
        ...shared,
        subject: isWave ? translate('{site}: {headline}', { site: name, headline: text.headline }) : text.headline,
        headline: text.headline,
        lead: text.lead,
        facts: text.facts,
        ...(text.list === undefined ? {} : { list: text.list }),
        task: text.task,
        reason: isWave
          ? together(alert.addresses)
          : translate('You get this alert because {email} asked for it on {site}.', { email: to.email, site: name }),
      },
    };
  }

  const headline = counted('{count} alert of {site}', '{count} alerts of {site}', alerts.length, { site: name });
  const listed = described.slice(-LISTED_MAX);
  const more = described.length - listed.length;
  return {
    texts,
    language,
    notice: {
      ...shared,
      subject: headline,
      headline,
      lead: translate('The most urgent one: {headline}.', { headline: first.text.headline }),
      facts: listed.map(({ alert, text }) => ({
        name: formatDayAndTime(language, timeZone, alert.at),
        value: text.headline,
      })),
      task: first.text.task,
      reason: `${more === 0 ? '' : `${counted('{count} earlier alert is not listed.', '{count} earlier alerts are not listed.', more)} `}${together(alerts.length)}`,
    },
  };
}

/** Returns a test message in the form of an alert. */
export function describeTest(site: AlertSite, now: number): AlertText {
  const { language, timeZone, name } = site;
  const { translate } = language;
  const choose = toLogUrl(site, { tab: 'weekly-reports' });
  return {
    severity: 'info',
    headline: translate('This is a test from {site}', { site: name }),
    lead: translate('Alerts arrive here. There is nothing to do.'),
    facts: [{ name: translate('When'), value: formatDayAndTime(language, timeZone, now) }],
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
    texts: [text],
    language,
    notice: {
      ...text,
      subject: text.headline,
      date: when?.value ?? '',
      reason: translate('You get this alert because {email} asked for it on {site}.', { email, site: name }),
    },
  };
}
