import { type PageId, pages } from '@security-optimizer/contract/pages';
import { essentialsText } from '../components/essentials-meter.js';
import { Ring } from '../components/ring.js';
import { Icon } from '../icons/icon.js';
import { isBuilt } from '../pages/registry.js';
import { useServices } from '../services.js';
import { useEssentials } from './use-essentials.js';
import { verdictOf } from './verdict.js';

/** How well the site is protected, in short; leads to the dashboard once that page is there. */
export function ProtectionStatus({ page }: { readonly page: PageId }) {
  const { config } = useServices();
  const essentials = useEssentials(page);
  if (essentials === null || page === 'SECURITY_DASHBOARD') return null;

  const { text, state } = verdictOf(essentials);
  const content = (
    <>
      <Ring small on={essentials.on} total={essentials.total} state={state} />
      <span className="so-status__text">
        <b>{text}</b>
        <small>{essentialsText(essentials)}</small>
      </span>
    </>
  );
  const slug = pages.find(({ id }) => id === 'SECURITY_DASHBOARD')?.slug;
  const dashboard = isBuilt('SECURITY_DASHBOARD') ? config.pages.find((item) => item.slug === slug) : undefined;
  if (dashboard === undefined) return <div className="so-status">{content}</div>;
  return (
    <a className="so-status" href={dashboard.url}>
      {content}
      <Icon name="chevron-right" size={16} />
    </a>
  );
}
