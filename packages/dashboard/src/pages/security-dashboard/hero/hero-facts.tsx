import { formatNumber } from '../../../i18n/format-number.js';
import { __ } from '../../../i18n/translate.js';
import { factsSource, useOverview } from '../../../overview/use-overview.js';
import { useServices } from '../../../services.js';

/** Figures below the score. Each stands there only when it is known. */
export function HeroFacts() {
  const { config } = useServices();
  const { part: facts } = useOverview(factsSource);
  const shown = [
    { value: facts?.blocked, text: __('blocked in 7 days', 'security-optimizer') },
    { value: facts?.block_list, text: __('on the block list', 'security-optimizer') },
    { value: facts?.failed_logins, text: __('failed logins', 'security-optimizer') },
  ].filter(({ value }) => value !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul className="so-hero__facts so-num">
      {shown.map(({ value = 0, text }) => (
        <li key={text}>
          <b>{formatNumber(value, config.localeSlug)}</b> <small>{text}</small>
        </li>
      ))}
    </ul>
  );
}
