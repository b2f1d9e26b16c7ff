import { useId, useRef, useState } from 'react';
import { keepFocus } from '../../components/keep-focus.js';
import { safeHref } from '../../components/server-text.js';
import { useQueryClient } from '../../data/use-query.js';
import { __ } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';
import { ignoreFailure } from '../../options/use-changes.js';
import type { RateState } from '../../overview/read-overview.js';
import { OVERVIEW_KEY, rateSource, useOverview } from '../../overview/use-overview.js';
import { useServices } from '../../services.js';

const STARS = [1, 2, 3, 4, 5];

/** Rate Us: asks for a review while the server says so, and never again once it was dismissed. */
export function RateSection() {
  const { run } = useServices();
  const client = useQueryClient();
  const { part: rate } = useOverview(rateSource);
  const [pending, setPending] = useState(false);
  const section = useRef<HTMLElement>(null);
  const id = useId();
  if (rate === undefined || !rate.show) return null;
  const link = rate.link === '' ? null : safeHref(rate.link);

  function dismiss(): void {
    if (pending) return;
    setPending(true);
    const next = section.current?.nextElementSibling?.querySelector<HTMLElement>('h2');
    run({
      name: rateSource.name,
      call: { suffix: rateSource.suffix, body: { show: 0 } },
      onSuccess: () => {
        client.setQueryData<RateState>([OVERVIEW_KEY, rateSource.name], { show: false, link: '' });
        // The button goes away with its section; the next one takes the focus.
        keepFocus(() => next);
      },
      onComplete: () => setPending(false),
    }).catch(ignoreFailure);
  }

  return (
    <section className="so-section" ref={section} aria-labelledby={id}>
      <div className="so-card so-rate">
        <span className="so-rate__stars" aria-hidden="true">
          {STARS.map((star) => (
            <Icon key={star} name="star" />
          ))}
        </span>
        <div className="so-rate__text">
          <h2 id={id}>{__('Rate Us', 'security-optimizer')}</h2>
          <p>
            {__('Happy with Security Optimizer? A short review helps other site owners choose.', 'security-optimizer')}
          </p>
        </div>
        {link === null ? null : (
          <a className="so-btn so-btn--iconend" href={link} target="_blank" rel="noopener noreferrer">
            {__('Write a review', 'security-optimizer')}
            <span className="so-vh"> {__('(opens in a new tab)', 'security-optimizer')}</span>
            <Icon name="external" size={16} />
          </a>
        )}
        <button
          type="button"
          className="so-iconbtn"
          aria-label={__('Dismiss and don’t ask again', 'security-optimizer')}
          aria-disabled={pending || undefined}
          onClick={dismiss}
        >
          <Icon name="x" />
        </button>
      </div>
    </section>
  );
}
