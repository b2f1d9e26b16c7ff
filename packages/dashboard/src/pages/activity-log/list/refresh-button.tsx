import { classes } from '../../../components/classes.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { useServices } from '../../../services.js';

export interface RefreshButtonProps {
  /** Rows that came since the list was read; the server counts to a thousand. */
  readonly news: number;
  readonly busy: boolean;
  readonly onRefresh: () => void;
}

/** Counted to this many; more is "1,000+". */
const MOST = 1000;

/** Reads the list again. Says how many rows are new, and leaves it to the owner when to see them. */
export function RefreshButton({ news, busy, onRefresh }: RefreshButtonProps) {
  const { config } = useServices();
  const count = formatNumber(Math.min(news, MOST), config.localeSlug) + (news >= MOST ? '+' : '');
  /* translators: %s: number of entries that came since the list was read */
  const text = sprintf(_n('%s new', '%s new', news, 'security-optimizer'), count);
  return (
    <>
      <button
        type="button"
        className={classes('so-iconbtn so-iconbtn--line', news > 0 && 'so-iconbtn--news')}
        aria-label={news > 0 ? `${text}, ${__('Refresh', 'security-optimizer')}` : __('Refresh', 'security-optimizer')}
        aria-busy={busy || undefined}
        onClick={busy ? undefined : onRefresh}
      >
        {busy ? <span className="so-spin" /> : <Icon name="refresh" />}
        {news > 0 ? <span className="so-iconbtn__text so-num">{text}</span> : null}
      </button>
      <span className="so-vh" role="status">
        {news > 0 ? __('There are new entries.', 'security-optimizer') : ''}
      </span>
    </>
  );
}
