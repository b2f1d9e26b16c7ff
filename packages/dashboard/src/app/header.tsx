import { type PageId, type PageText, pages } from '@security-optimizer/contract/pages';
import type { ReactNode } from 'react';
import { useSite } from '../api/site-context.js';
import { essentialsText, getVerdict, useEssentials } from '../features/settings/essentials.js';
import { translate } from '../i18n/translate.js';
import { Icon } from '../ui/icon.js';
import { Ring } from '../ui/meter.js';

export interface HeaderProps {
  readonly page: PageText;
  readonly loader: ReactNode;
  readonly as: 'header' | 'div';
  /** Shown at the end of the header. */
  readonly status?: ReactNode;
  /** Receives the element at the foot of the header, see `HeaderFoot`. */
  readonly footRef: (element: HTMLElement | null) => void;
}

/** The header of a page: icon, title, intro, protection status and loading bar. */
export function Header({ page, loader, as: Band, status, footRef }: HeaderProps) {
  const title = splitTitle(translate(page.title));
  return (
    <Band className="so-head">
      <div className="so-wrap">
        <div className="so-head__bar">
          <span className="so-head__icon">
            <Icon name={page.icon} size={24} />
          </span>
          <div className="so-head__text">
            <h1 className="so-head__title">
              {title.product === null ? null : (
                <>
                  <span>
                    {title.product} <i>-</i>
                  </span>{' '}
                </>
              )}
              {title.page}
            </h1>
            <p className="so-head__intro">{translate(page.intro)}</p>
          </div>
          {status}
        </div>
        <div ref={footRef} />
      </div>
      {loader}
    </Band>
  );
}

/** Splits a page title at its hyphen; the first part is drawn lighter. A title without a hyphen is one part. */
export function splitTitle(title: string): { readonly product: string | null; readonly page: string } {
  const at = title.indexOf(' - ');
  return at < 0
    ? { product: null, page: title }
    : { product: title.slice(0, at), page: title.slice(at + ' - '.length) };
}

/** Short protection status with a link to the Security Dashboard. */
export function ProtectionStatus({ page }: { readonly page: PageId }) {
  const { config } = useSite();
  const essentials = useEssentials(page);
  if (essentials === null || page === 'SECURITY_DASHBOARD') return null;
  // Reserves its space: the header would grow later.
  if (essentials === undefined) return <div className="so-status-wait" aria-hidden="true" />;

  const { text, state } = getVerdict(essentials);
  const label = essentialsText(essentials);
  const content = (
    <>
      <Ring small on={essentials.on} total={essentials.total} label={label} state={state} />
      <span className="so-status__text">
        <b>{text}</b>
        <small>{label}</small>
      </span>
    </>
  );
  const slug = pages.find(({ id }) => id === 'SECURITY_DASHBOARD')?.slug;
  const dashboard = config.pages.find((item) => item.slug === slug);
  if (dashboard === undefined) return <div className="so-status">{content}</div>;
  return (
    <a className="so-status" href={dashboard.url}>
      {content}
      <Icon name="chevron-right" size={16} />
    </a>
  );
}
