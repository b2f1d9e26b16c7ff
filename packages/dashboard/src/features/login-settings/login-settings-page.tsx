import { __ } from '../../i18n/translate.js';
import { useHashTarget } from '../../ui/setting-row.js';
import { usePending } from '../settings/change-setting.js';
import { countLoginEssentials, EssentialsMeter } from '../settings/essentials.js';
import { loginSettings } from '../settings/settings-query.js';
import { SettingsSection } from '../settings/settings-section.js';
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
  const withAway =
    settings.state === 'loading' || (settings.state === 'ready' && settings.values.away_mode !== undefined);
  return (
    <>
      <SettingsSection
        title={__('Login Settings', 'security-optimizer')}
        settings={settings}
        rows={ROWS}
        side={(values) => <EssentialsMeter {...countLoginEssentials({ ...values, ...pending })} />}
      >
        {() => (
          <div className="so-card">
            <LoginRows onOpen={open} />
          </div>
        )}
      </SettingsSection>
      {withAway ? (
        <SettingsSection title={__('Outside working hours', 'security-optimizer')} settings={settings} rows={1} silent>
          {({ away_mode }) => (
            <div className="so-card">
              {away_mode === undefined ? null : <AwayRow state={away_mode} onConfigure={() => open('away')} />}
            </div>
          )}
        </SettingsSection>
      ) : null}
      {Current === null ? null : <Current onClosed={closed} />}
    </>
  );
}
