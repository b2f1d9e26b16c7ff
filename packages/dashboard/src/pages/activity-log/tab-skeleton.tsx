import { __ } from '../../i18n/translate.js';

/** Shown while the code of a tab is fetched. */
export function TabSkeleton() {
  return (
    <div className="so-card so-card__body" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <span className="so-sk so-sk--title" />
      <span className="so-sk so-sk--help" />
    </div>
  );
}
