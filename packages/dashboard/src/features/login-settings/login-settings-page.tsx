import { __ } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { useHashTarget } from '../../ui/setting-row.js';
import { usePending } from '../settings/change-setting.js';
import { countLoginEssentials, EssentialsMeter } from '../settings/essentials.js';
import { loginSettings } from '../settings/settings-query.js';
import { SettingsFailed, SettingsSkeleton } from '../settings/settings-section.js';
import { useSettings } from '../settings/use-settings.js';
import { AwayRow } from './away-row.js';
import { findDialog, useLoginDialogs } from './login-dialogs.js';
import { LoginRows } from './login-rows.js';

const ROWS = 5;

export default function LoginSettingsPage() {
  const settings = useSettings(loginSettings);
  const { Current, open, closed } = useLoginDialogs();
  const pending = usePending(loginSettings);
  useHashTarget(settings.state === 'ready', (hash) => {
    const dialog = settings.state === 'ready' ? findDialog(hash, settings.values) : null;
    if (dialog !== null) open(dialog);
    return dialog !== null;
  });
  const title = __('Login Settings', 'security-optimizer');
  const awayTitle = __('Outside working hours', 'security-optimizer');

  if (settings.state === 'loading') {
    return (
      <>
        <Section title={title} busy>
          <SettingsSkeleton rows={ROWS} />
        </Section>
        <Section title={awayTitle} busy>
          <SettingsSkeleton rows={1} silent />
        </Section>
      </>
    );
  }
  if (settings.state === 'failed') {
    return (
      <Section title={title}>
        <SettingsFailed failure={settings.failure} retrying={settings.retrying} onRetry={settings.retry} />
      </Section>
    );
  }

  const { values } = settings;
  return (
    <>
      <Section title={title} side={<EssentialsMeter {...countLoginEssentials({ ...values, ...pending })} />}>
        <div className="so-card">
          <LoginRows onOpen={open} />
        </div>
      </Section>
      {values.away_mode === undefined ? null : (
        <Section title={awayTitle}>
          <div className="so-card">
            <AwayRow state={values.away_mode} onConfigure={() => open('away')} />
          </div>
        </Section>
      )}
      {Current === null ? null : <Current onClosed={closed} />}
    </>
  );
}
