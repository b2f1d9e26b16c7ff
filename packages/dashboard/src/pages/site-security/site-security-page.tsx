import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import { EssentialsMeter } from '../../components/essentials-meter.js';
import { Section } from '../../components/section.js';
import { __ } from '../../i18n/translate.js';
import { OptionsFailed } from '../../options/options-failed.js';
import { OptionsSkeleton } from '../../options/options-skeleton.js';
import { securityOptions } from '../../options/options-source.js';
import { withPending } from '../../options/use-changes.js';
import { useOptions } from '../../options/use-options.js';
import { countSecurityEssentials } from '../../protection/essentials.js';
import { useHashTarget } from '../../shell/use-hash-target.js';
import { SecurityRow } from './security-row.js';
import { type Toggle, toggleRequestName, useToggles } from './use-toggles.js';

const toggles: readonly Toggle[] = siteSecurityToggles;

/** Site Security: one switch for each entry of the catalogue. */
export default function SiteSecurityPage() {
  const options = useOptions(securityOptions);
  const { changes, change } = useToggles(options.store);
  const title = __('Site Security', 'security-optimizer');
  useHashTarget(options.state === 'ready', () => false);

  if (options.state === 'loading') {
    return (
      <Section title={title} busy>
        <OptionsSkeleton rows={toggles.length} />
      </Section>
    );
  }
  if (options.state === 'failed') {
    return (
      <Section title={title}>
        <OptionsFailed failure={options.failure} retrying={options.retrying} onRetry={options.retry} />
      </Section>
    );
  }

  const shown = withPending(options.options, changes);
  return (
    <Section title={title} side={<EssentialsMeter {...countSecurityEssentials(shown)} />}>
      <div className="so-card">
        {toggles.map((toggle) => {
          const stored = options.options[toggle.field];
          if (stored === undefined) return null;
          return (
            <SecurityRow
              key={toggle.field}
              toggle={toggle}
              stored={stored}
              value={shown[toggle.field] ?? stored}
              change={changes[toggleRequestName(toggle.field)]}
              onChange={change}
            />
          );
        })}
      </div>
    </Section>
  );
}
