import { ToggleRowSkeleton } from '../components/toggle-row-skeleton.js';
import { __ } from '../i18n/translate.js';

/** Shown while the options load: rows without any state, so that none can be wrong. */
export function OptionsSkeleton({ rows, silent = false }: { readonly rows: number; readonly silent?: boolean }) {
  return (
    <div className="so-card">
      {silent ? null : (
        <span className="so-vh" role="status">
          {__('Loading', 'security-optimizer')}
        </span>
      )}
      {Array.from({ length: rows }, (_, place) => place).map((place) => (
        <ToggleRowSkeleton key={place} />
      ))}
    </div>
  );
}
