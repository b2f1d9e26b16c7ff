import type { LastDelivery } from '@security-optimizer/contract/alerts/schemas';
import type { ReactNode } from 'react';
import { getDateFormats } from '../../i18n/date-formats.js';
import { siteNow } from '../../i18n/days.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { useSiteTimeZone } from '../settings/use-settings.js';

export interface LastDeliveryLinesProps {
  readonly last: LastDelivery | null;
  /** Shows nothing while all is well. */
  readonly onlyTrouble?: boolean;
}

/**
 * The result of the last delivery of a channel or to a recipient, with the number of waiting alerts; and the alerts that
 * were lost, with the reason.
 */
export function LastDeliveryLines({ last, onlyTrouble = false }: LastDeliveryLinesProps) {
  const zone = useSiteTimeZone();
  // Without a time, nothing was sent to the present target, but alerts may wait.
  if (last === null || last.at === '') {
    const nothing = __('Nothing was sent yet.', 'security-optimizer');
    return onlyTrouble ? null : <span>{withWaiting(nothing, last?.waiting ?? 0)}</span>;
  }
  const { ok, lost, waiting } = last;
  const when = whenText(last.at, siteNow(zone, Date.now()).day);
  const message = translate(last.text);
  return (
    <>
      {ok === 1 && onlyTrouble ? null : (
        <Line ok={ok === 1}>
          {withWaiting(
            ok === 1
              ? /* translators: 1: day and time, 2: an answer */
                sprintf(__('Last answer %1$s: %2$s', 'security-optimizer'), when, message)
              : /* translators: 1: day and time, 2: an answer or a reason */
                sprintf(__('It failed %1$s: %2$s', 'security-optimizer'), when, message),
            waiting,
          )}
        </Line>
      )}
      {lost === 0 ? null : (
        <Line ok={false}>
          {lostText(lost, ok === 0 && last.text === last.lost_text ? '' : translate(last.lost_text))}
        </Line>
      )}
    </>
  );
}

function Line({ ok, children }: { readonly ok: boolean; readonly children: ReactNode }) {
  return (
    <span className={classes('so-last', !ok && 'is-bad')}>
      <Icon name={ok ? 'check-circle' : 'alert'} size={16} />
      {children}
    </span>
  );
}

/** @param at local time of the site, `YYYY-MM-DD HH:MM` */
function whenText(at: string, today: string): string {
  const formats = getDateFormats();
  const [day = '', clock = ''] = at.split(' ');
  const time = formats.time(clock);
  return day === today
    ? /* translators: %s: a time of day; inside a sentence */
      sprintf(__('today, %s', 'security-optimizer'), time)
    : /* translators: 1: a day, 2: a time */
      sprintf(__('%1$s, %2$s', 'security-optimizer'), formats.shortDate(day), time);
}

/** @param reason empty if the line above names it */
function lostText(lost: number, reason: string): string {
  const template =
    reason === ''
      ? /* translators: %1$s: number of alerts */
        _n(
          '%1$s alert of the last 7 days was not delivered.',
          '%1$s alerts of the last 7 days were not delivered.',
          lost,
          'security-optimizer',
        )
      : /* translators: 1: number of alerts, 2: a reason */
        _n(
          '%1$s alert of the last 7 days was not delivered: %2$s',
          '%1$s alerts of the last 7 days were not delivered: %2$s',
          lost,
          'security-optimizer',
        );
  return sprintf(template, formatNumber(lost), reason);
}

/** Adds a sentence about the alerts that wait. */
function withWaiting(text: string, waiting: number): string {
  if (waiting === 0) return text;
  const sentence = sprintf(
    /* translators: %s: number of alerts */
    _n('%s alert waits.', '%s alerts wait.', waiting, 'security-optimizer'),
    formatNumber(waiting),
  );
  return `${text}${/[.!?]$/.test(text) ? '' : '.'} ${sentence}`;
}
