import { Button } from '../../../components/button.js';
import { ErrorText } from '../../../components/error-text.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import type { LogList } from './use-log-list.js';

/** The foot of a list: the next page, as long as there is one. */
export function LoadMore<Row>({ list }: { readonly list: LogList<Row> }) {
  const { config } = useServices();
  const { rows, fetching, failure } = list;
  if (rows === null || rows.page >= rows.pages) return null;
  const number = (value: number): string => formatNumber(value, config.localeSlug);
  return (
    <div className="so-card__foot">
      <Button
        onClick={list.loadMore}
        pendingText={fetching === 'more' ? __('Loading…', 'security-optimizer') : undefined}
      >
        {__('Load More', 'security-optimizer')}
      </Button>
      <span className="so-num">
        {sprintf(
          /* translators: 1: page of a list that was loaded last, 2: number of pages */
          __('Page %1$s of %2$s', 'security-optimizer'),
          number(rows.page),
          number(rows.pages),
        )}
      </span>
      {failure === null ? null : <ErrorText>{__('We couldn’t load more. Try again.', 'security-optimizer')}</ErrorText>}
    </div>
  );
}
