import { EssentialsMeter } from '../../components/essentials-meter.js';
import { Section } from '../../components/section.js';
import { __ } from '../../i18n/translate.js';
import { OptionsFailed } from '../../options/options-failed.js';
import { OptionsSkeleton } from '../../options/options-skeleton.js';
import { loginOptions } from '../../options/options-source.js';
import { withPending } from '../../options/use-changes.js';
import { useOptions } from '../../options/use-options.js';
import { countLoginEssentials } from '../../protection/essentials.js';
import { useHashTarget } from '../../shell/use-hash-target.js';
import { AwayRow } from './away-row.js';
import { dialogOf } from './login-dialogs.js';
import { LoginRows } from './login-rows.js';
import { useLoginChanges } from './use-login-changes.js';
import { useLoginDialogs } from './use-login-dialogs.js';

const ROWS = 5;

/** Login Security: who may reach the login, and how they prove who they are. */
export default function LoginSettingsPage() {
  const options = useOptions(loginOptions);
  const changes = useLoginChanges(options.store);
  const { Current, open, closed } = useLoginDialogs();
  useHashTarget(options.state === 'ready', (hash) => {
    const dialog = options.state === 'ready' ? dialogOf(hash, options.options) : null;
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
          readAgain={() => void options.readAgain()}
          onClosed={closed}
        />
      )}
    </>
  );
}
