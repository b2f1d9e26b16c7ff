import { type SettingRow, securityRows } from '@security-optimizer/contract/settings/catalogue';
import { fetchSignedXmlRpc, updateSignedXmlRpc } from '@security-optimizer/contract/settings/endpoints';
import { signedXmlRpcSchema } from '@security-optimizer/contract/settings/options';
import { useQuery } from '@tanstack/react-query';
import type * as z from 'zod/mini';
import { toCall } from '../../api/client.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { useHashTarget } from '../../ui/setting-row.js';
import { useChange, usePending, useSetting } from '../settings/change-setting.js';
import { countSecurityEssentials, EssentialsMeter } from '../settings/essentials.js';
import { SettingRows, SettingSwitch } from '../settings/setting-controls.js';
import { type SettingsSource, securitySettings } from '../settings/settings-query.js';
import { SettingsSection } from '../settings/settings-section.js';
import { useSettings } from '../settings/use-settings.js';

/** Site Security: one switch for each entry of the catalogue. */
export default function SiteSecurityPage() {
  const settings = useSettings(securitySettings);
  const pending = usePending(securitySettings);
  useHashTarget(settings.state === 'ready', () => false);

  return (
    <SettingsSection
      title={__('Site Security', 'security-optimizer')}
      settings={settings}
      rows={securityRows.length}
      side={(values) => <EssentialsMeter {...countSecurityEssentials({ ...values, ...pending })} />}
    >
      {() => (
        <div className="so-card">
          <SettingRows
            source={securitySettings}
            rows={securityRows}
            own={{ disable_xml_rpc: <XmlRpcRow key="disable_xml_rpc" /> }}
          />
        </div>
      )}
    </SettingsSection>
  );
}

const xmlRpcRow = securityRows.find(({ field }) => field === 'disable_xml_rpc') as SettingRow;

/** Disable XML-RPC: while it is off, the row names the plugins whose signed requests still get through. */
function XmlRpcRow() {
  const control = useSetting(securitySettings, xmlRpcRow);
  const text = translate(xmlRpcRow.help);
  return (
    <SettingSwitch
      control={control}
      help={
        control.shown === 1 ? (
          <>
            {text}
            <SignedXmlRpcLine />
          </>
        ) : (
          text
        )
      }
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
function SignedXmlRpcLine() {
  const { api } = useSite();
  // No toast on failure: an older server lacks this endpoint.
  const { data = {} } = useQuery<SignedXmlRpc, unknown>({
    queryKey: source.key,
    queryFn: async () => source.read((await api.call<unknown>(source.call)).data),
    staleTime: Number.POSITIVE_INFINITY,
    retryOnMount: false,
  });
  const { state, target, change } = useChange(source, updateSignedXmlRpc.name);
  const saving = state === 'saving';
  const { signed_xml_rpc: value, plugins = [] } = saving ? { ...data, ...target } : data;
  if (value === undefined || plugins.length === 0) return null;
  const names = plugins.map(({ name }) => name).join(', ');
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
