import { loginOptions, useOptions, withPending } from '../../api/options.js';
import { OptionsFailed, OptionsSkeleton } from '../../forms/load-states.js';
import { __ } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { useHashTarget } from '../../ui/setting-row.js';
import { countLoginEssentials } from '../protection/essentials.js';
import { EssentialsMeter } from '../protection/protection-status.js';
import { findDialog, useLoginDialogs } from './login-dialogs.js';
import { useLoginChanges } from './login-options.js';
import { AwayRow, LoginRows } from './login-rows.js';

const ROWS = 5;

export default function LoginSettingsPage() {
  const options = useOptions(loginOptions);
  const { Current, open, closed } = useLoginDialogs();
  const users = options.state === 'ready' ? options.options.two_factor_users : null;
  const changes = useLoginChanges(options.store, users ? () => open('two-factor') : null);
  useHashTarget(options.state === 'ready', (hash) => {
    const dialog = options.state === 'ready' ? findDialog(hash, options.options) : null;
    if (dialog !== null) open(dialog);
    return dialog !== null;
  });
  const title = __('Login Settings', 'security-optimizer');
  const awayTitle = __('Outside working hours', 'security-optimizer');

  if (options.state === 'loading') {
    return (
      <>
        <Section title={title} busy>
          <OptionsSkeleton rows={ROWS} />
        </Section>
        <Section title={awayTitle} busy>
          <OptionsSkeleton rows={1} silent />
        </Section>
      </>
    );
  }
  if (options.state === 'failed') {
    return (
      <Section title={title}>
        <OptionsFailed failure={options.failure} retrying={options.retrying} onRetry={options.retry} />
      </Section>
    );
  }

  const shown = withPending(options.options, changes.changes);
  return (
    <>
      <Section title={title} side={<EssentialsMeter {...countLoginEssentials(shown)} />}>
        <div className="so-card">
          <LoginRows {...changes} stored={options.options} shown={shown} onOpen={open} />
        </div>
      </Section>
      {shown.away_mode === undefined ? null : (
        <Section title={awayTitle}>
          <div className="so-card">
            <AwayRow state={shown.away_mode} onConfigure={() => open('away')} />
          </div>
        </Section>
      )}
      {Current === null ? null : (
        <Current
          options={options.options}
          store={options.store}
          reload={() => void options.reload()}
          onClosed={closed}
        />
      )}
    </>
  );
}
