import {
  CHECKS,
  type CheckName,
  type Checkup,
  type CheckupResult,
} from '@security-optimizer/contract/post-hack/checkup';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { recentTimeText, useSiteClock } from '../settings/site-clock.js';

interface VerdictProps {
  readonly known: Checkup;
  readonly disabled: boolean;
  /** Whether the start is being sent. */
  readonly starting: boolean;
  readonly onLook: () => void;
}

/** The verdict, time and coverage of the latest checkup. Green only if all checks ran without findings. */
export function Verdict({ known: { running, latest }, disabled, starting, onLook }: VerdictProps) {
  const clock = useSiteClock();
  const isRunning = running !== null || starting;
  const total = running?.total ?? latest?.checks.length ?? CHECKS.length;
  const ran = latest?.checks.filter((check) => check.ran === 1).length ?? 0;
  const done = isRunning ? (running?.done ?? 0) : ran;
  const { icon, state, title } = toVerdict(latest, ran);
  const checking = __('Checking…', 'security-optimizer');
  const label = isRunning
    ? /* translators: 1: checks that have ended, 2: all checks */
      sprintf(__('%1$d of %2$d checks done', 'security-optimizer'), done, total)
    : /* translators: 1: checks that ran, 2: all checks */
      sprintf(__('%1$d of %2$d checks ran', 'security-optimizer'), done, total);
  return (
    <div className="so-verdict" role="status">
      <IconTile name={isRunning ? 'search' : icon} state={isRunning ? 'off' : state} large />
      <div className="so-verdict__text">
        <h3>{isRunning ? checking : title}</h3>
        {latest === null && !isRunning ? (
          <p>
            <span>
              {__(
                'Compares WordPress and plugins with their official files and looks for new administrators and for scripts in uploads. It changes nothing.',
                'security-optimizer',
              )}
            </span>
          </p>
        ) : (
          <p>
            {latest === null || isRunning ? null : <span>{recentTimeText(latest.at, clock)}</span>}
            <span className="so-meter">
              <span className="so-meter__bar" aria-hidden="true">
                {CHECKS.slice(0, total).map((check, index) => (
                  <i key={check} className={index < done ? 'is-on' : isRunning ? undefined : 'is-gap'} />
                ))}
              </span>
              {label}
            </span>
          </p>
        )}
      </div>
      <Button onClick={onLook} disabled={disabled} pendingText={isRunning ? checking : undefined}>
        {latest === null ? __('Check now', 'security-optimizer') : __('Check again', 'security-optimizer')}
      </Button>
    </div>
  );
}

function toVerdict(latest: CheckupResult | null, ran: number) {
  if (latest === null) {
    return { icon: 'search', state: 'off', title: __('Not checked yet', 'security-optimizer') } as const;
  }
  const { length } = latest.findings;
  if (length > 0) {
    const title = sprintf(
      /* translators: %d: number of findings */
      _n('%d thing needs a look', '%d things need a look', length, 'security-optimizer'),
      length,
    );
    return { icon: 'error', state: 'danger', title } as const;
  }
  if (ran === 0) {
    return { icon: 'alert', state: 'warn', title: __('Nothing could be checked', 'security-optimizer') } as const;
  }
  if (ran < latest.checks.length || ran < CHECKS.length) {
    return { icon: 'alert', state: 'warn', title: __('Nothing suspicious so far', 'security-optimizer') } as const;
  }
  return {
    icon: 'shield-check',
    state: 'on',
    title: __('Nothing suspicious was found', 'security-optimizer'),
  } as const;
}

/** Summarizes the result of each check. */
export function ChecksLine({ result }: { readonly result: CheckupResult }) {
  return (
    <ul className="so-checks">
      {result.checks.map(({ check, ran }) => {
        const found = result.findings.filter((finding) => finding.check === check).length;
        const state = found > 0 ? 'is-find' : ran === 0 ? 'is-gap' : undefined;
        return (
          <li key={check} className={state}>
            <Icon name={found > 0 ? 'error' : ran === 0 ? 'alert' : 'check'} />
            {checkText(check, ran === 1, found)}
          </li>
        );
      })}
    </ul>
  );
}

export function checkText(check: CheckName, ran: boolean, found: number): string {
  const name = checkName(check);
  if (found > 0) {
    return sprintf(
      /* translators: 1: name of a check, 2: number of findings */
      _n('%1$s: %2$d finding', '%1$s: %2$d findings', found, 'security-optimizer'),
      name,
      found,
    );
  }
  /* translators: %s: name of a check */
  return sprintf(
    ran ? __('%s: nothing found', 'security-optimizer') : __('%s: not checked', 'security-optimizer'),
    name,
  );
}

function checkName(check: CheckName): string {
  switch (check) {
    case 'core':
      return __('Core files', 'security-optimizer');
    case 'administrators':
      return __('Administrators', 'security-optimizer');
    case 'uploads':
      return __('Uploads', 'security-optimizer');
    case 'plugins':
      return __('Plugins', 'security-optimizer');
  }
}
