import type { HardeningItem } from '@security-optimizer/contract/overview/endpoints';
import { pages } from '@security-optimizer/contract/pages';
import { useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { Meter } from '../../ui/meter.js';
import { SafeHtml, SafeHtmlTitle, safeHref } from '../../ui/safe-html.js';
import { Section } from '../../ui/section.js';
import { countLoginEssentials, countSecurityEssentials } from '../settings/essentials.js';
import type { LoginSettings, SecuritySettings } from '../settings/settings-query.js';
import { ebookSource, hardeningSource, useOverview } from './overview.js';

export interface HardeningSectionProps {
  /** Null while they load. */
  readonly security: SecuritySettings | null;
  readonly login: LoginSettings | null;
}

/** Security Hardening: a card for each page with essentials, and the provider's e-book beside them. */
export function HardeningSection(props: HardeningSectionProps) {
  const { part, missing } = useOverview(hardeningSource);
  const own = useOwnCards(props);
  const cards = missing ? own : part;
  const isLoading = cards === undefined;
  return (
    <Section title={__('Security Hardening', 'security-optimizer')} busy={isLoading}>
      <div className="so-cols so-cols--hard">
        {isLoading
          ? [1, 2].map((index) => (
              <div key={index} className="so-card so-hard" aria-hidden="true">
                <span className="so-sk so-sk--tile" />
                <span className="so-sk so-sk--title" />
                <span className="so-sk so-sk--help" />
              </div>
            ))
          : cards.map((card) => <HardeningCard key={card.id} card={card} />)}
        <EbookPanel />
      </div>
    </Section>
  );
}

function HardeningCard({ card }: { readonly card: HardeningItem }) {
  const { title, text, icon, on, total } = card;
  const link = safeHref(card.button_link);
  const name = translate(title);
  const button = translate(card.button_text) || __('Open', 'security-optimizer');
  return (
    <article className="so-card so-hard">
      <IconTile name={icon} state={on * 2 >= total ? 'on' : 'warn'} large />
      <h3>
        <SafeHtmlTitle text={name} />
      </h3>
      <p>
        <SafeHtml text={translate(text)} />
      </p>
      <div className="so-hard__foot">
        {total === 0 ? (
          <span />
        ) : (
          <Meter
            on={on}
            total={total}
            label={sprintf(
              /* translators: 1: essentials that are on, 2: all essentials of a page */
              __('%1$d of %2$d on', 'security-optimizer'),
              on,
              total,
            )}
          />
        )}
        {link === null || link === '' ? null : (
          <a className="so-btn so-btn--iconend" href={link} aria-label={`${button}: ${name}`}>
            {button}
            <Icon name="arrow-right" size={16} />
          </a>
        )}
      </div>
    </article>
  );
}

/** Builds the cards from the settings, for a server without this endpoint. */
function useOwnCards({ security, login }: HardeningSectionProps): readonly HardeningItem[] | undefined {
  const { config } = useSite();
  const card = (id: 'SITE_SECURITY' | 'LOGIN_SETTINGS', title: string, text: string): HardeningItem => {
    const page = pages.find((item) => item.id === id);
    const count =
      id === 'SITE_SECURITY' ? security && countSecurityEssentials(security) : login && countLoginEssentials(login);
    return {
      id,
      title,
      text,
      icon: page?.icon ?? 'shield',
      button_text: __('Open', 'security-optimizer'),
      button_link: config.pages.find(({ slug }) => slug === page?.slug)?.url ?? '',
      on: count?.on ?? 0,
      total: count?.total ?? 0,
    };
  };
  return [
    card(
      'SITE_SECURITY',
      __('Site Security', 'security-optimizer'),
      __('Close the gaps that malware and known exploits use.', 'security-optimizer'),
    ),
    card(
      'LOGIN_SETTINGS',
      __('Login Security', 'security-optimizer'),
      __('Keep strangers and bots away from your login page.', 'security-optimizer'),
    ),
  ];
}

/** The cover, or an icon if there is none or it can't be loaded. */
function EbookCover({ image }: { readonly image: string }) {
  const [failed, setFailed] = useState<string | null>(null);
  if (image === '' || failed === image) return <IconTile name="book" state="on" large />;
  return (
    <div className="so-ebook__cover">
      <img src={image} alt="" width={116} height={152} onError={() => setFailed(image)} />
    </div>
  );
}

/** The provider's e-book, if there is one. */
function EbookPanel() {
  const { part: ebook } = useOverview(ebookSource);
  if (!ebook) return null;
  const link = safeHref(ebook.link);
  const image = safeHref(ebook.image);
  return (
    <aside className="so-card so-ebook" aria-label={__('E-book', 'security-optimizer')}>
      <EbookCover image={image ?? ''} />
      <div className="so-ebook__text">
        <h3>
          <SafeHtmlTitle text={translate(ebook.title)} />
        </h3>
        <p>
          <SafeHtml text={translate(ebook.text)} />
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
