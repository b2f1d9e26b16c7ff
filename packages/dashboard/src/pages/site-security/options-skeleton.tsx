import { ToggleRowSkeleton } from '../../components/toggle-row-skeleton.js';
import { __ } from '../../i18n/translate.js';

/** Shown while the options load: rows without any state, so that none can be wrong. */
export function OptionsSkeleton({ rows }: { readonly rows: number }) {
  return (
    <div className="so-card">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      {Array.from({ length: rows }, (_, place) => place).map((place) => (
        <ToggleRowSkeleton key={place} />
      ))}
    </div>
  );
}
