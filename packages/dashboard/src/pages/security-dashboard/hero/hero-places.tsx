import { LoadFailed } from '../../../components/load-failed.js';
import { __ } from '../../../i18n/translate.js';
import type { OptionsState } from '../../../options/use-options.js';

/** Keeps the place of score and next steps while the settings load: no score that could be wrong. */
export function HeroSkeleton() {
  return (
    <div className="so-hero so-hero--sk" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <div className="so-hero__score">
        <span className="so-sk so-sk--ring" />
        <span className="so-sk so-sk--title" />
      </div>
      <div className="so-hero__next">
        {[1, 2, 3, 4].map((row) => (
          <span key={row} className="so-sk so-sk--help" />
        ))}
      </div>
    </div>
  );
}

/** Stands in for score and next steps when the settings could not be read. */
export function HeroFailed({ parts }: { readonly parts: readonly OptionsState<unknown>[] }) {
  const failed = parts.flatMap((part) => (part.state === 'failed' ? [part] : []));
  const first = failed[0];
  if (first === undefined) return null;
  return (
    <div className="so-hero__failed">
      <LoadFailed
        text={__('We couldn’t read the settings, so we can’t say how safe this site is.', 'security-optimizer')}
        failure={first.failure}
        retrying={failed.some(({ retrying }) => retrying)}
        onRetry={() => {
          for (const part of failed) part.retry();
        }}
      />
    </div>
  );
}
