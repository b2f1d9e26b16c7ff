import { type RateState, rate } from '@security-optimizer/contract/overview/endpoints';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useRef } from 'react';
import { toCall } from '../../api/client.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __ } from '../../i18n/translate.js';
import { IconButton } from '../../ui/button.js';
import { restoreFocus } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { safeHref } from '../../ui/safe-html.js';
import { OVERVIEW_KEY, rateSource, useOverview } from './overview.js';

const STARS = [1, 2, 3, 4, 5];

/** Rate Us: asks for a review until it is dismissed. */
export function RateSection() {
  const { pending, save } = useSubmit();
  const client = useQueryClient();
  const { part: state } = useOverview(rateSource);
  const section = useRef<HTMLElement>(null);
  const id = useId();
  if (state === undefined || state.show === 0) return null;
  const link = state.link === '' ? null : safeHref(state.link);

  function dismiss(): void {
    const next = section.current?.nextElementSibling?.querySelector<HTMLElement>('h2');
    save({
      call: toCall(rate, { show: 0 }),
      onSuccess: () => {
        client.setQueryData<RateState>([OVERVIEW_KEY, rate.name], { show: 0, link: '' });
        // The section disappears; focus the next one.
        restoreFocus(() => next);
      },
    });
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
        <IconButton
          icon="x"
          label={__('Dismiss and don’t ask again', 'security-optimizer')}
          inactive={pending}
          onClick={dismiss}
        />
      </div>
    </section>
  );
}
