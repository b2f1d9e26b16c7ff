import { useEffect, useRef } from 'react';
import { __ } from '../i18n/translate.js';
import { Button } from './button.js';
import { keepFocus } from './keep-focus.js';

export interface RetryButtonProps {
  readonly retrying?: boolean;
  readonly onRetry: () => void;
}

/** Tries again what could not be loaded. Once it goes with its message, the focus is on the heading above. */
export function RetryButton({ retrying = false, onRetry }: RetryButtonProps) {
  const place = useRef<Element | null | undefined>(null);

  useEffect(
    () => () => {
      const { current } = place;
      if (!current) return;
      // What failed may have been the only thing of its section.
      const heading = () => (document.body.contains(current) ? current.querySelector('h1, h2') : null);
      keepFocus(() => heading() ?? document.querySelector('.so h1'));
    },
    [],
  );

  return (
    <Button
      onClick={() => {
        place.current = document.activeElement?.closest('section, .so-head, .so-main');
        onRetry();
      }}
      pendingText={retrying ? __('Loading…', 'security-optimizer') : undefined}
    >
      {__('Try again', 'security-optimizer')}
    </Button>
  );
}
