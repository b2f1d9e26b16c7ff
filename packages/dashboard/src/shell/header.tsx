import type { PageText } from '@security-optimizer/contract/pages';
import type { ReactNode } from 'react';
import { translate } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { splitTitle } from './split-title.js';

export interface HeaderProps {
  readonly page: PageText;
  readonly loader: ReactNode;
  readonly as: 'header' | 'div';
  /** Stands at the end of the band. */
  readonly status?: ReactNode;
  /** Gets the element at the foot of the band, for what the page itself puts there. */
  readonly footRef: (element: HTMLElement | null) => void;
}

/** The white band on top of a page: icon, title, intro, and the loader line when there is one. */
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
