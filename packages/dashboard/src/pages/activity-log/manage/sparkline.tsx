import { __ } from '../../../i18n/translate.js';

/** Bars of the last hours, oldest first, without a scale: only their shape says something. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(0, ...values);
  if (most === 0) return null;
  return (
    <span className="so-spark" title={__('Visits in each of the last hours', 'security-optimizer')} aria-hidden="true">
      {values.map((value, hour) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is the hour
        <i key={hour} style={{ height: `${Math.max(6, Math.round((value / most) * 100))}%` }} />
      ))}
    </span>
  );
}
