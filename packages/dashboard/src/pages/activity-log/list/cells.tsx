import type { UnknownRow } from '@security-optimizer/contract/activity';
import { Tip } from '../../../components/tip.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import { Cell } from './log-table.js';
import { momentTexts } from './moment-text.js';

/** When it was, by the site's clock. */
export function TimeCell({ ts, seconds }: { readonly ts: string; readonly seconds: number }) {
  const moment = momentTexts(ts, seconds, useDateTexts());
  return (
    <Cell className="so-td-time">
      <time className="so-num" dir="ltr" dateTime={seconds > 0 ? new Date(seconds * 1000).toISOString() : undefined}>
        {moment === null ? (
          ts
        ) : (
          <>
            {moment.time}
            {'\u2002'}
            <small>{moment.day}</small>
          </>
        )}
      </time>
    </Cell>
  );
}

/** An address, and the host name behind it once that is known. */
export function AddressCell({ ip, hostname }: { readonly ip: string; readonly hostname: string }) {
  return (
    <Cell className="so-td-ip">
      <Tip text={hostname} className="so-ip">
        <span className="so-mono" dir="ltr">
          {ip}
        </span>
        {hostname === '' ? null : <small dir="ltr">{hostname}</small>}
      </Tip>
    </Cell>
  );
}

/**
 * What was asked for, and how many refused visits share the row. The target is shortened to one line; the tooltip shows
 * all.
 */
export function PageCell({ row }: { readonly row: UnknownRow }) {
  const { page_visited: target, count } = row;
  return (
    <Cell className="so-td-page so-td-path">
      <Tip text={target} className="so-pathcell">
        <span className="so-mono so-path" dir="ltr">
          {target}
        </span>
        {count > 1 ? (
          <span className="so-times so-num">
            <span aria-hidden="true">× {count}</span>
            {/* translators: %d: how often a page was visited in a moment */}
            <span className="so-vh">{sprintf(__('%d times', 'security-optimizer'), count)}</span>
          </span>
        ) : null}
      </Tip>
      {row.more > 0 ? <MoreLikeThis {...row} /> : null}
    </Cell>
  );
}

/** In a flood one row holds the refused visits of a second that are alike. */
function MoreLikeThis({ more, more_from: from, ip }: Pick<UnknownRow, 'more' | 'more_from' | 'ip'>) {
  const { config } = useServices();
  const number = formatNumber(more, config.localeSlug);
  return (
    <small className="so-more so-num">
      {from === ip
        ? /* translators: %s: number of visits */
          sprintf(_n('and %s more like this', 'and %s more like this', more, 'security-optimizer'), number)
        : from === null
          ? sprintf(
              /* translators: %s: number of visits */
              _n(
                'and %s more like this from other addresses',
                'and %s more like this from other addresses',
                more,
                'security-optimizer',
              ),
              number,
            )
          : sprintf(
              /* translators: 1: number of visits, 2: addresses, for example 203.0.113.0/24 */
              _n('and %1$s more like this from %2$s', 'and %1$s more like this from %2$s', more, 'security-optimizer'),
              number,
              from,
            )}
    </small>
  );
}

/** HTTP status; in red with the rule when it was refused. */
export function ResponseCell({ code, response, rule }: { code: number; response: string; rule: string | null }) {
  const blocked = rule !== null;
  const kind = blocked ? ' so-pill--bad' : code >= 400 ? ' so-pill--warn' : '';
  /* translators: %s: HTTP status */
  const text = blocked ? sprintf(__('%s Blocked', 'security-optimizer'), String(code)) : response || String(code);
  return (
    <Cell className="so-td-status">
      {/* translators: %s: name of a rule */}
      <Tip text={blocked && rule !== '' ? sprintf(__('Refused by: %s', 'security-optimizer'), rule) : ''}>
        <span className={`so-pill${kind}`}>{text}</span>
      </Tip>
    </Cell>
  );
}
