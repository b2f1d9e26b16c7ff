import { signedXmlRpcSchema } from '@security-optimizer/contract/settings/options';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type * as z from 'zod/mini';
import {
  type ChangeState,
  type KnownOptions,
  type OptionsSource,
  securityOptions,
  type Toggle,
  toggleRequestName,
  useChanges,
  useOptions,
  useToggles,
  withPending,
} from '../../api/options.js';
import { useServices } from '../../api/services.js';
import { readKnown } from '../../api/tolerant.js';
import { notSavedText, OptionsFailed, OptionsSkeleton } from '../../forms/load-states.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { ToggleRow, useHashTarget } from '../../ui/setting-row.js';
import { countSecurityEssentials, isRecommended } from '../protection/essentials.js';
import { EssentialsMeter } from '../protection/protection-status.js';

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

export interface SecurityRowProps {
  readonly toggle: Toggle;
  /** Stored value, and value to show. */
  readonly stored: 0 | 1;
  readonly value: 0 | 1;
  readonly change: ChangeState<KnownOptions> | undefined;
  readonly onChange: (toggle: Toggle, wanted: 0 | 1) => void;
}

/** The row of one option of Site Security. */
export function SecurityRow({ toggle, stored, value, change, onChange }: SecurityRowProps) {
  const failed = change?.state === 'failed' ? change : null;
  return (
    <ToggleRow
      anchor={toggle.suffix.slice(1)}
      icon={toggle.icon}
      title={translate(toggle.title)}
      help={
        toggle.field === 'disable_xml_rpc' && value === 1 ? (
          <>
            {translate(toggle.help)}
            <SignedXmlRpcLine />
          </>
        ) : (
          translate(toggle.help)
        )
      }
      on={value === 1}
      pending={change?.state === 'saving'}
      recommended={isRecommended(toggle, value)}
      error={failed === null ? undefined : notSavedText(stored)}
      onToggle={() => onChange(toggle, value === 1 ? 0 : 1)}
      onRetry={() => onChange(toggle, failed?.target[toggle.field] ?? value)}
    />
  );
}

type SignedXmlRpc = Partial<z.infer<typeof signedXmlRpcSchema>>;

const source: OptionsSource<SignedXmlRpc> = {
  key: ['signed-xml-rpc'],
  call: { suffix: '/signed-xml-rpc', method: 'GET' },
  read: (data) => readKnown(signedXmlRpcSchema, data),
};

/**
 * Signed XML-RPC requests that are allowed although XML-RPC is off, and a button to change that. Hidden if no plugin
 * needs them or the server does not know them.
 */
export function SignedXmlRpcLine() {
  const { api } = useServices();
  const client = useQueryClient();
  // No notice on failure: an older server lacks this endpoint.
  const { data = {} } = useQuery<SignedXmlRpc, unknown>({
    queryKey: source.key,
    queryFn: async () => source.read((await api.call<unknown>(source.call)).data),
    staleTime: Number.POSITIVE_INFINITY,
    retryOnMount: false,
  });
  const { changes, change } = useChanges<SignedXmlRpc>(source, (stored) =>
    client.setQueryData<SignedXmlRpc>(source.key, (known) => ({ ...known, ...stored })),
  );
  const { signed_xml_rpc: value, plugins = [] } = withPending(data, changes);
  if (value === undefined || plugins.length === 0) return null;
  const names = plugins.map(({ name }) => name).join(', ');
  const saving = changes['update:signed_xml_rpc']?.state === 'saving';
  return (
    <>
      {' '}
      {value === 1
        ? /* translators: %s: names of plugins */
          sprintf(__('Signed requests of %s still get through.', 'security-optimizer'), names)
        : /* translators: %s: names of plugins */
          sprintf(__('Signed requests of %s are refused, too.', 'security-optimizer'), names)}{' '}
      <button
        type="button"
        className="so-link"
        aria-disabled={saving}
        onClick={() => {
          if (saving) return;
          const wanted = value === 1 ? 0 : 1;
          change({
            name: 'update:signed_xml_rpc',
            call: { suffix: '/signed-xml-rpc', body: { signed_xml_rpc: wanted } },
            target: { signed_xml_rpc: wanted },
          });
        }}
      >
        {value === 1 ? __('Refuse them, too', 'security-optimizer') : __('Let them through', 'security-optimizer')}
      </button>
    </>
  );
}
