import { IconTile } from '../../components/icon-tile.js';
import { ServerText, ServerTitle, safeHref } from '../../components/server-text.js';
import { __, translate } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';
import { ebookSource, useOverview } from '../../overview/use-overview.js';

/** The e-book that the provider offers; nothing when there is none. */
export function EbookPanel() {
  const { part: ebook } = useOverview(ebookSource);
  if (!ebook) return null;
  const link = safeHref(ebook.link);
  const image = safeHref(ebook.image);
  return (
    <aside className="so-card so-ebook" aria-label={__('E-book', 'security-optimizer')}>
      {ebook.image === '' || image === null ? (
        <IconTile name="book" state="on" large />
      ) : (
        <div className="so-ebook__cover">
          <img src={image} alt="" width={116} height={152} />
        </div>
      )}
      <div className="so-ebook__text">
        <h3>
          <ServerTitle text={translate(ebook.title)} />
        </h3>
        <p>
          <ServerText text={translate(ebook.text)} />
        </p>
        {ebook.link === '' || link === null ? null : (
          <a className="so-btn so-btn--iconend" href={link} target="_blank" rel="noopener noreferrer">
            {__('Get the e-book', 'security-optimizer')}
            <span className="so-vh"> {__('(opens in a new tab)', 'security-optimizer')}</span>
            <Icon name="external" size={16} />
          </a>
        )}
      </div>
    </aside>
  );
}
