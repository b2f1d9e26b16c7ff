import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import { useSite } from '../../api/site-context.js';
import { __ } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { LoginsPill } from '../activity-log/attackers-panel.js';
import { AttackersList } from '../activity-log/attackers-table.js';
import { useBlocks } from '../activity-log/blocks.js';
import { useAttackers, withBlocks } from '../activity-log/use-attackers.js';
import { useBlocking } from '../activity-log/use-blocking.js';

/** The small panel "Who is attacking". @param most maximum number of rows */
export default function AttackersSection({ limit }: { readonly limit: number }) {
  const { config } = useSite();
  const part = useAttackers();
  const blocking = useBlocking();
  const rows = withBlocks(part, useBlocks()).slice(0, limit);
  const { attackers } = part;
  if (attackers === undefined || rows.length === 0) return null;
  return (
    <Section
      title={__('Who is attacking', 'security-optimizer')}
      stacked
      side={
        <>
          <LoginsPill attackers={attackers} />
          {config.logPageUrl === '' ? null : (
            <a className="so-link" href={toLogHref(config.logPageUrl, {})}>
              {__('Show all', 'security-optimizer')}
              <span className="so-vh">, {__('Who is attacking', 'security-optimizer')}</span>
            </a>
          )}
        </>
      }
    >
      <div className="so-card">
        <AttackersList rows={rows} blocking={blocking} />
      </div>
      {blocking.popover}
    </Section>
  );
}
