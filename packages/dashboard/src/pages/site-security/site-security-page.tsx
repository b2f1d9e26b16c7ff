import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import { Meter } from '../../components/meter.js';
import { Section } from '../../components/section.js';
import { __, sprintf } from '../../i18n/translate.js';
import { displayedValue } from './displayed-value.js';
import { countEssentials } from './essentials.js';
import { OptionsFailed } from './options-failed.js';
import { OptionsSkeleton } from './options-skeleton.js';
import type { KnownOptions } from './read-security-options.js';
import { SecurityRow } from './security-row.js';
import { useSecurityOptions } from './use-security-options.js';
import { type Toggle, useToggles } from './use-toggles.js';

const toggles: readonly Toggle[] = siteSecurityToggles;

/** Site Security: one switch for each entry of the catalogue. */
export default function SiteSecurityPage() {
  const options = useSecurityOptions();
  const { changes, change } = useToggles(options.store);
  const title = __('Site Security', 'security-optimizer');

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

  const rows = toggles.flatMap((toggle) => {
    const stored = options.options[toggle.field];
    return stored === undefined ? [] : [{ toggle, stored, change: changes[toggle.field] }];
  });
  const values = Object.fromEntries(rows.map((row) => [row.toggle.field, displayedValue(row.stored, row.change)]));
  return (
    <Section title={title} side={<EssentialsMeter values={values} />}>
      <div className="so-card">
        {rows.map((row) => (
          <SecurityRow key={row.toggle.field} {...row} onChange={change} />
        ))}
      </div>
    </Section>
  );
}

function EssentialsMeter({ values }: { readonly values: KnownOptions }) {
  const { on, total } = countEssentials(values);
  const label = sprintf(
    /* translators: 1: essentials that are on, 2: all essentials */
    __('%1$d of %2$d essentials on', 'security-optimizer'),
    on,
    total,
  );
  return <Meter on={on} total={total} label={label} />;
}
