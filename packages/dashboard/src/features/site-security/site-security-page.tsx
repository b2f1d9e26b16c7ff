import {
  fetchSignedXmlRpc,
  settingRequestName,
  updateSignedXmlRpc,
} from '@security-optimizer/contract/settings/endpoints';
import { signedXmlRpcSchema } from '@security-optimizer/contract/settings/options';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { ToggleRow, useHashTarget } from '../../ui/setting-row.js';
import { type ChangeState, type Toggle, useChanges, useToggles, withPending } from '../settings/change-setting.js';
import { countSecurityEssentials, EssentialsMeter, isRecommended } from '../settings/essentials.js';
import { type SecuritySettings, type SettingsSource, securitySettings } from '../settings/settings-query.js';
import { notSavedText, SettingsFailed, SettingsSkeleton } from '../settings/settings-section.js';
import { useSettings } from '../settings/use-settings.js';

const toggles: readonly Toggle[] = siteSecurityToggles;

/** Site Security: one switch for each entry of the catalogue. */
export default function SiteSecurityPage() {
  const settings = useSettings(securitySettings);
  const { changes, change } = useToggles(settings.store);
  const title = __('Site Security', 'security-optimizer');
  useHashTarget(settings.state === 'ready', () => false);

  if (settings.state === 'loading') {
    return (
      <Section title={title} busy>
        <SettingsSkeleton rows={toggles.length} />
      </Section>
    );
  }
  if (settings.state === 'failed') {
    return (
      <Section title={title}>
        <SettingsFailed failure={settings.failure} retrying={settings.retrying} onRetry={settings.retry} />
      </Section>
    );
  }

  const shown = withPending(settings.values, changes);
  return (
    <Section title={title} side={<EssentialsMeter {...countSecurityEssentials(shown)} />}>
      <div className="so-card">
        {toggles.map((toggle) => {
          const stored = settings.values[toggle.field];
          if (stored === undefined) return null;
          return (
            <SecurityRow
              key={toggle.field}
              toggle={toggle}
              stored={stored}
              value={shown[toggle.field] ?? stored}
              change={changes[settingRequestName(toggle.field)]}
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
  readonly change: ChangeState<SecuritySettings> | undefined;
  readonly onChange: (toggle: Toggle, wanted: 0 | 1) => void;
}

/** The row of one setting of Site Security. */
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

const source: SettingsSource<SignedXmlRpc> = {
  key: ['signed-xml-rpc'],
  call: toCall(fetchSignedXmlRpc, {}),
  read: (data) => readKnown(signedXmlRpcSchema, data),
};

/**
 * Signed XML-RPC requests that are allowed although XML-RPC is off, and a button to change that. Hidden if no plugin
 * needs them or the server does not know them.
 */
export function SignedXmlRpcLine() {
  const { api } = useSite();
  const client = useQueryClient();
  // No toast on failure: an older server lacks this endpoint.
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
  const saving = changes[updateSignedXmlRpc.name]?.state === 'saving';
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
            call: toCall(updateSignedXmlRpc, { signed_xml_rpc: wanted }),
            target: { signed_xml_rpc: wanted },
          });
        }}
      >
        {value === 1 ? __('Refuse them, too', 'security-optimizer') : __('Let them through', 'security-optimizer')}
      </button>
    </>
  );
}
