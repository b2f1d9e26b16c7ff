import type { CheckupFinding } from '@security-optimizer/contract/post-hack';
import { safeHref } from '../../components/server-text.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';
import type { CheckupPart } from './read-checkup.js';

/** Items that are shown at once; the others follow on demand. */
const SHOWN = 5;

/** What one part of the checkup found. Names come from the site and may hold anything, so they stay plain text. */
export function CheckupPartView({ part }: { readonly part: CheckupPart }) {
  return (
    <div className="so-found so-card__sep">
      <h3>{part.title}</h3>
      {part.error === '' ? null : (
        <p className="so-error">
          <Icon name="error" />
          <span>{part.error}</span>
        </p>
      )}
      {part.findings.map((found) => (
        <Finding key={found.id} found={found} />
      ))}
    </div>
  );
}

const ICONS = { problem: 'alert', note: 'info', fine: 'check-circle' } as const;

function levelText(level: CheckupFinding['level']): string {
  switch (level) {
    case 'problem':
      return __('Look at this', 'security-optimizer');
    case 'note':
      return __('Good to know', 'security-optimizer');
    case 'fine':
      return __('Fine', 'security-optimizer');
  }
}

function Finding({ found }: { readonly found: CheckupFinding }) {
  const href = found.link === '' ? null : safeHref(found.link);
  const rest = found.items.slice(SHOWN);
  return (
    <div className={`so-found__one is-${found.level}`}>
      <Icon name={ICONS[found.level]} />
      <div>
        <p>
          <span className="so-vh">{levelText(found.level)}: </span>
          <b>{found.title}</b>
        </p>
        {found.text === '' ? null : <p className="so-muted">{found.text}</p>}
        <Items items={found.items.slice(0, SHOWN)} />
        {rest.length === 0 ? null : (
          <details>
            <summary>
              {sprintf(
                /* translators: %d: number of entries that are not shown yet */
                _n('%d more', '%d more', rest.length, 'security-optimizer'),
                rest.length,
              )}
            </summary>
            <Items items={rest} />
          </details>
        )}
        {href === null ? null : (
          <p>
            <a className="so-link" href={href}>
              {found.link_text || __('Open', 'security-optimizer')}
            </a>
          </p>
        )}
      </div>
    </div>
  );
}

function Items({ items }: { readonly items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <ul className="so-found__items">
      {items.map((item) => (
        <li key={item}>
          <bdi>{item}</bdi>
        </li>
      ))}
    </ul>
  );
}
