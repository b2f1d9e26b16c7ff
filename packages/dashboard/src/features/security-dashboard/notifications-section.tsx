import type { Notification } from '@security-optimizer/contract/overview/endpoints';
import { LoadFailed } from '../../forms/request-failed.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { IconTile } from '../../ui/icon.js';
import { SafeHtml, SafeHtmlTitle, safeHref } from '../../ui/safe-html.js';
import { Section } from '../../ui/section.js';
import { notificationsSource, useOverview } from './overview.js';

const TILES = {
  danger: { name: 'error', state: 'danger' },
  warning: { name: 'alert', state: 'warn' },
  info: { name: 'info', state: 'info' },
} as const;

/** Important Notifications, each with a link to the fix. Hidden if there are none. */
export function NotificationsSection() {
  const { part, failure, retrying, retry } = useOverview(notificationsSource);
  const title = __('Important Notifications', 'security-optimizer');
  if (failure !== null) {
    return (
      <Section title={title} stacked>
        <div className="so-card so-card__body">
          <LoadFailed
            text={__('We couldn’t check what needs your attention.', 'security-optimizer')}
            failure={failure}
            retrying={retrying}
            onRetry={retry}
          />
        </div>
      </Section>
    );
  }
  if (part === undefined || part.length === 0) return null;
  return (
    <Section title={title} stacked>
      <div className="so-card">
        {part.map((item) => (
          <Alert key={item.id} item={item} />
        ))}
      </div>
    </Section>
  );
}

function Alert({ item }: { readonly item: Notification }) {
  const link = item.button_text === '' ? null : safeHref(item.button_link);
  const title = translate(item.title);
  const button = translate(item.button_text);
  return (
    <div className="so-alert">
      <IconTile {...TILES[item.level]} />
      <div className="so-alert__text">
        <h3>
          <SafeHtmlTitle text={title} />
        </h3>
        <p>
          <SafeHtml text={translate(item.text)} />
        </p>
      </div>
      {link === null ? null : (
        <a
          className="so-btn"
          href={link}
          /* translators: 1: what a button does, 2: the message that it belongs to */
          aria-label={sprintf(__('%1$s: %2$s', 'security-optimizer'), button, plain(title))}
        >
          {button}
        </a>
      )}
    </div>
  );
}

/** The text content of a title. */
function plain(title: string): string {
  return new DOMParser().parseFromString(title, 'text/html').body.textContent ?? '';
}
