import type { SettingRow } from '@security-optimizer/contract/settings/catalogue';
import { loginRows, logRows, securityRows } from '@security-optimizer/contract/settings/catalogue';
import type { SettingControl } from '../../src/features/settings/change-setting.js';
import { SettingRows, SettingSelect, SettingSwitch } from '../../src/features/settings/setting-controls.js';
import { activitySettings } from '../../src/features/settings/settings-query.js';
import { SettingsSkeleton } from '../../src/features/settings/settings-section.js';
import { useSettings } from '../../src/features/settings/use-settings.js';
import type { Group, PartExample } from '../example.js';
import { nothing } from './samples.js';

/** The settings of the log, as the sample site has them. */
function LogRows() {
  const settings = useSettings(activitySettings);
  if (settings.state !== 'ready') return <SettingsSkeleton rows={logRows.length} />;
  return <SettingRows source={activitySettings} rows={logRows} />;
}

function control(setting: SettingRow, state: Partial<SettingControl>): SettingControl {
  return { setting, stored: 0, shown: 0, failed: null, pending: false, choices: [], set: nothing, ...state };
}

const xmlRpc = securityRows.find(({ field }) => field === 'disable_xml_rpc') as SettingRow;
const attempts = loginRows.find(({ field }) => field === 'login_attempts') as SettingRow;
const CHOICES = [0, 3, 5].map((value) => ({ value, label: value === 0 ? 'OFF' : String(value), selected: 0 as const }));

function settingSwitch(state: string, props: Partial<SettingControl>): PartExample {
  return {
    id: `setting-switch-${state}`,
    title: `switch, ${state}`,
    ground: 'flush',
    draw: () => <SettingSwitch control={control(xmlRpc, props)} />,
  };
}

function settingSelect(state: string, props: Partial<SettingControl>): PartExample {
  return {
    id: `setting-select-${state}`,
    title: `list, ${state}`,
    ground: 'flush',
    draw: () => <SettingSelect control={control(attempts, { choices: CHOICES, ...props })} />,
  };
}

export const catalogue: Group = {
  id: 'catalogue',
  title: 'Settings of the catalogue',
  examples: [
    { id: 'setting-rows', title: 'all of a page', ground: 'flush', draw: () => <LogRows /> },
    settingSwitch('recommended', {}),
    settingSwitch('stored', { stored: 1, shown: 1 }),
    settingSwitch('saving', { shown: 1, pending: true }),
    settingSwitch('not-saved', { failed: 1 }),
    settingSelect('off', {}),
    settingSelect('stored', { stored: 5, shown: 5 }),
    settingSelect('saving', { stored: 5, shown: 3, pending: true }),
    settingSelect('not-saved', { stored: 5, shown: 5, failed: 0 }),
  ],
};
