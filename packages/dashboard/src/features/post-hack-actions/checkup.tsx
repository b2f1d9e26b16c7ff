import {
  CHECKS,
  type CheckName,
  type Checkup,
  type CheckupResult,
} from '@security-optimizer/contract/post-hack/checkup';
import type { Job } from '@security-optimizer/contract/post-hack/endpoints';
import { useEffect, useState } from 'react';
import { ApiFailure } from '../../api/client.js';
import { undoNotice } from '../../api/notices.js';
import { ignoreFailure, useChanges, useOptions, withPending } from '../../api/options.js';
import { useServices } from '../../api/services.js';
import { LoadFailed, notSavedText, OptionsSkeleton } from '../../forms/load-states.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes, restoreFocus } from '../../ui/dom.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { ErrorText } from '../../ui/note.js';
import { Section } from '../../ui/section.js';
import { ToggleRow } from '../../ui/setting-row.js';
import { checkupSource, useMoment, weeklyHelp } from './checkup-data.js';
import { FindingRow, KeptFindings, MissingCheckRow, Notes } from './checkup-rows.js';
import { readStartedJob, toStartRequest } from './post-hack-jobs.js';

const POLL_MS = 1000;
const POLL_AFTER_FAILURE_MS = 5000;

export interface CheckupProps {
  /** Called when the result or an error is drawn. */
  readonly onReady: () => void;
  /** Called when the session has ended. */
  readonly disabled: boolean;
  /** Called when a plugin is being reinstalled. */
  readonly onJob: (job: Job) => void;
}

/** The verdict of the latest checkup, its findings with their fixes, the weekly switch, and earlier checkups. */
export default function CheckupSection({ onReady, disabled, onJob }: CheckupProps) {
  const options = useOptions(checkupSource);
  const title = __('Checkup', 'security-optimizer');
  const isLoading = options.state === 'loading';
  useEffect(() => {
    if (!isLoading) onReady();
  }, [isLoading, onReady]);
  if (options.state === 'loading') {
    return (
      <Section title={title} busy>
        <OptionsSkeleton rows={1} />
      </Section>
    );
  }
  if (options.state === 'failed') {
    return (
      <Section title={title}>
        <div className="so-card so-card__body">
          <LoadFailed
            text={__('We couldn’t load the result of the last checkup.', 'security-optimizer')}
            failure={options.failure}
            retrying={options.retrying}
            onRetry={options.retry}
          />
        </div>
      </Section>
    );
  }
  return (
    <Section title={title} busy={options.options.running !== null}>
      <Result known={options.options as Checkup} store={options.store} disabled={disabled} onJob={onJob} />
    </Section>
  );
}

interface ResultProps extends Omit<CheckupProps, 'onReady'> {
  readonly known: Checkup;
  readonly store: (change: Partial<Checkup>) => void;
}

function Result({ known, store, disabled, onJob }: ResultProps) {
  const { run, api, notices } = useServices();
  const { running, latest } = known;
  const [pending, setPending] = useState<string | null>(null);
  const [refreshes, setRefreshes] = useState({ failed: false });
  useEffect(() => {
    if (running === null || disabled) return;
    const refresh = async () => {
      const response = await api.call<unknown>(checkupSource.call).catch(ignoreFailure);
      if (response !== undefined) store(checkupSource.read(response.data));
      setRefreshes({ failed: response === undefined });
    };
    const timer = setTimeout(() => void refresh(), refreshes.failed ? POLL_AFTER_FAILURE_MS : POLL_MS);
    return () => clearTimeout(timer);
  }, [running, disabled, refreshes, api, store]);

  function send(name: string, suffix: string, body: object, onSuccess: (data: unknown) => void): void {
    if (pending !== null) return;
    setPending(name);
    run<unknown>({ name, call: { suffix, body }, onSuccess, onComplete: () => setPending(null) }).catch(ignoreFailure);
  }
  const storeResponse = (data: unknown) => store(checkupSource.read(data));
  const runCheckup = () => send('runCheckup', '/run-checkup', {}, storeResponse);

  function keep(key: string, title: string, value: 0 | 1): void {
    send(`keep:${key}`, '/keep-finding', { key, keep: value }, (data) => {
      storeResponse(data);
      if (value === 1) {
        notices.show({
          ...undoNotice({
            title: __('Kept, and left out next time', 'security-optimizer'),
            text: title,
            undo: () => keepAgain(key),
          }),
          key: 'keepFinding',
        });
      }
      restoreFocus(
        () => document.querySelector('.so-finding .so-btn') ?? document.querySelector('.so-verdict .so-btn'),
      );
    });
  }
  /** It runs after the request that it reverts, so it does not see that one's state. */
  function keepAgain(key: string): void {
    run<unknown>({
      name: 'keepFinding',
      call: { suffix: '/keep-finding', body: { key, keep: 0 } },
      onSuccess: storeResponse,
    }).catch(ignoreFailure);
  }

  function reinstall(file: string): void {
    const { name, call } = toStartRequest('reinstall-plugins', { only: [file] });
    send(name, call.suffix, call.body as object, (data) => {
      const job = readStartedJob(data);
      if (job !== null) onJob(job);
    });
  }

  const locked = disabled || running !== null;
  return (
    <>
      <div className="so-card">
        <Verdict known={known} disabled={disabled} starting={pending === 'runCheckup'} onLook={runCheckup} />
        {known.error === '' ? null : (
          <div className="so-card__body so-card__sep">
            <ErrorText>{known.error}</ErrorText>
          </div>
        )}
        {latest?.findings.map((finding) => (
          <FindingRow
            key={finding.key}
            finding={finding}
            disabled={locked}
            keeping={pending === `keep:${finding.key}`}
            onKeep={() => keep(finding.key, finding.title, 1)}
            onReinstall={() => reinstall(finding.plugin)}
          />
        ))}
        {latest?.checks
          .filter(({ ran }) => ran === 0)
          .map((outcome) => (
            <MissingCheckRow key={outcome.check} outcome={outcome} disabled={locked} onRetry={runCheckup} />
          ))}
        {latest === null ? null : (
          <>
            <KeptFindings kept={latest.kept} disabled={locked} onRelease={({ key, title }) => keep(key, title, 0)} />
            <Notes notes={latest.notes} />
            <ChecksLine result={latest} />
          </>
        )}
      </div>
      <Weekly known={known} store={store} disabled={disabled} />
      <Earlier known={known} store={store} />
    </>
  );
}

interface VerdictProps {
  readonly known: Checkup;
  readonly disabled: boolean;
  /** Whether the start is being sent. */
  readonly starting: boolean;
  readonly onLook: () => void;
}

/** The verdict, time and coverage of the latest checkup. Green only if all checks ran without findings. */
export function Verdict({ known: { running, latest }, disabled, starting, onLook }: VerdictProps) {
  const moment = useMoment();
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
            {latest === null || isRunning ? null : <span>{moment(latest.at)}</span>}
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
function ChecksLine({ result }: { readonly result: CheckupResult }) {
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

function checkText(check: CheckName, ran: boolean, found: number): string {
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

/** The switch of the weekly checkup, with its day, time and recipients. */
function Weekly({ known, store, disabled }: Pick<ResultProps, 'known' | 'store' | 'disabled'>) {
  const { config } = useServices();
  const { changes, change } = useChanges<Partial<Checkup>>(checkupSource, store);
  const state = changes['update:weekly_checkup'];
  const { weekly = known.weekly } = withPending<Partial<Checkup>>(known, changes);
  const isOn = weekly.weekly_checkup === 1;
  const [when, who] = weeklyHelp(weekly, config);
  const set = (value: 0 | 1) =>
    change({
      name: 'update:weekly_checkup',
      call: { suffix: '/weekly-checkup', body: { weekly_checkup: value } },
      target: { weekly: { ...known.weekly, weekly_checkup: value } },
    });
  return (
    <div className="so-card so-mt-16">
      <ToggleRow
        icon="calendar"
        title={__('Check every week', 'security-optimizer')}
        help={
          <>
            {when} {who}
          </>
        }
        on={isOn}
        pending={state?.state === 'saving'}
        recommended={false}
        disabled={disabled}
        error={state?.state === 'failed' ? notSavedText(known.weekly.weekly_checkup) : undefined}
        onToggle={() => set(isOn ? 0 : 1)}
        onRetry={() => set(state?.target.weekly?.weekly_checkup ?? 1)}
      />
    </div>
  );
}

/** Checkups before the latest one. */
function Earlier({ known: { earlier, more }, store }: Pick<ResultProps, 'known' | 'store'>) {
  const { run } = useServices();
  const moment = useMoment();
  const [loading, setLoading] = useState(false);
  if (earlier.length === 0) return null;

  function showAll(): void {
    setLoading(true);
    run<unknown>({
      name: 'allCheckups',
      call: { suffix: '/checkup', body: { all: 1 } },
      onSuccess: (data) => {
        const { earlier: all, more: rest } = checkupSource.read(data);
        if (all === undefined) throw new ApiFailure('refused');
        store({ earlier: all, more: rest ?? 0 });
      },
      onComplete: () => setLoading(false),
    }).catch(ignoreFailure);
  }

  return (
    <div className="so-card so-mt-16">
      <div className="so-card__head">
        <h2>{__('Earlier checkups', 'security-optimizer')}</h2>
        {more === 0 ? null : (
          <Button small onClick={showAll} pendingText={loading ? __('Loading…', 'security-optimizer') : undefined}>
            {__('Show all', 'security-optimizer')}
          </Button>
        )}
      </div>
      <ul className="so-past so-card__sep">
        {earlier.map(({ at, findings, missing }) => {
          const isFine = findings === 0 && missing.length === 0;
          return (
            <li key={at} className={classes(findings > 0 ? 'is-find' : missing.length > 0 && 'is-warn') || undefined}>
              <time className="so-num">
                <bdi>{moment(at)}</bdi>
              </time>
              <b>
                <Icon name={isFine ? 'check-circle' : findings > 0 ? 'error' : 'alert'} />
                <span>
                  {pastTexts(findings, missing).map((text, index) => (
                    <span key={text}>
                      {index === 0 ? '' : ', '}
                      {text}
                    </span>
                  ))}
                </span>
              </b>
              <span className="so-num">
                {sprintf(
                  /* translators: 1: checks that ran, 2: all checks */
                  __('%1$d of %2$d ran', 'security-optimizer'),
                  CHECKS.length - missing.length,
                  CHECKS.length,
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function pastTexts(findings: number, missing: readonly CheckName[]): string[] {
  const found =
    findings === 0
      ? __('Nothing found', 'security-optimizer')
      : /* translators: %d: number of findings */
        sprintf(_n('%d finding', '%d findings', findings, 'security-optimizer'), findings);
  return [found, ...missing.map((check) => checkText(check, false, 0))];
}
