import { Tip } from '../../../components/tip.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { __, sprintf } from '../../../i18n/translate.js';
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

/** What was asked for. Shortened to one line; the tooltip shows all. */
export function PageCell({ target, count }: { readonly target: string; readonly count: number }) {
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
    </Cell>
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
