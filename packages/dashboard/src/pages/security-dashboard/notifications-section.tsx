import { IconTile } from '../../components/icon-tile.js';
import { LoadFailed } from '../../components/load-failed.js';
import { Section } from '../../components/section.js';
import { ServerText, ServerTitle, safeHref } from '../../components/server-text.js';
import { say } from '../../i18n/say.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import type { ReadNotification } from '../../overview/read-overview.js';
import { notificationsSource, useOverview } from '../../overview/use-overview.js';
import { useServices } from '../../services.js';

const TILES = {
  danger: { name: 'error', state: 'danger' },
  warning: { name: 'alert', state: 'warn' },
  info: { name: 'info', state: 'info' },
} as const;

/** Important Notifications: what needs the owner, each with the button that leads to its fix. Only if there are any. */
export function NotificationsSection() {
  const { part, failure, retrying, retry } = useOverview(notificationsSource);
  const title = __('Important Notifications', 'security-optimizer');
  if (failure !== null) {
    return (
      <Section title={title}>
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
    <Section title={title}>
      <div className="so-card">
        {part.map((item) => (
          <Alert key={item.id} item={item} />
        ))}
      </div>
    </Section>
  );
}

function Alert({ item }: { readonly item: ReadNotification }) {
  const { config } = useServices();
  const link = item.button_text === '' ? null : safeHref(item.button_link);
  const title = say(item.title, item.phrases.title, config.localeSlug);
  const button = translate(item.button_text);
  return (
    <div className="so-alert">
      <IconTile {...TILES[item.level]} />
      <div className="so-alert__text">
        <h3>
          <ServerTitle text={title} />
        </h3>
        <p>
          <ServerText text={say(item.text, item.phrases.text, config.localeSlug)} />
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

/** The words of a title without its elements. */
function plain(title: string): string {
  return new DOMParser().parseFromString(title, 'text/html').body.textContent ?? '';
}
