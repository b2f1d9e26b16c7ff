import { CHECKS, type CheckName, type Checkup } from '@security-optimizer/contract/post-hack/checkup';
import { checkup, keepFinding, runCheckup } from '@security-optimizer/contract/post-hack/checkup-endpoints';
import { type Job, reinstallPlugins } from '@security-optimizer/contract/post-hack/endpoints';
import { settingRequestName } from '@security-optimizer/contract/settings/endpoints';
import { useEffect, useState } from 'react';
import { type ApiCall, toCall } from '../../api/client.js';
import { ApiError, ignoreApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { useRequestRunners } from '../../forms/tracked-requests.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes, restoreFocus } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { ErrorText } from '../../ui/inline-messages.js';
import { Section } from '../../ui/section.js';
import { ToggleRow } from '../../ui/setting-row.js';
import { undoToast, useToasts } from '../../ui/toast-store.js';
import { toSettingCall, useChanges, withPending } from '../settings/change-setting.js';
import { notSavedText, SettingsSkeleton } from '../settings/settings-section.js';
import { useSettings } from '../settings/use-settings.js';
import { checkupSource, useMoment, weeklyHelp } from './checkup-data.js';
import { FindingRow, KeptFindings, MissingCheckRow, Notes } from './checkup-rows.js';
import { ChecksLine, checkText, Verdict } from './checkup-verdict.js';
import { readStartedJob } from './post-hack-jobs.js';

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
  const settings = useSettings(checkupSource);
  const title = __('Checkup', 'security-optimizer');
  const isLoading = settings.state === 'loading';
  useEffect(() => {
    if (!isLoading) onReady();
  }, [isLoading, onReady]);
  if (settings.state === 'loading') {
    return (
      <Section title={title} busy>
        <SettingsSkeleton rows={1} />
      </Section>
    );
  }
  if (settings.state === 'failed') {
    return (
      <Section title={title}>
        <div className="so-card so-card__body">
          <LoadFailed
            text={__('We couldn’t load the result of the last checkup.', 'security-optimizer')}
            failure={settings.failure}
            retrying={settings.retrying}
            onRetry={settings.retry}
          />
        </div>
      </Section>
    );
  }
  return (
    <Section title={title} busy={settings.values.running !== null}>
      <Result known={settings.values as Checkup} store={settings.store} disabled={disabled} onJob={onJob} />
    </Section>
  );
}

interface ResultProps extends Omit<CheckupProps, 'onReady'> {
  readonly known: Checkup;
  readonly store: (change: Partial<Checkup>) => void;
}

function Result({ known, store, disabled, onJob }: ResultProps) {
  const { api } = useSite();
  const { run } = useRequestRunners();
  const toasts = useToasts();
  const { running, latest } = known;
  const [pending, setPending] = useState<string | null>(null);
  const [refreshes, setRefreshes] = useState({ failed: false });
  useEffect(() => {
    if (running === null || disabled) return;
    const refresh = async () => {
      const response = await api.call<unknown>(checkupSource.call).catch(ignoreApiError);
      if (response !== undefined) store(checkupSource.read(response.data));
      setRefreshes({ failed: response === undefined });
    };
    const timer = setTimeout(() => void refresh(), refreshes.failed ? POLL_AFTER_FAILURE_MS : POLL_MS);
    return () => clearTimeout(timer);
  }, [running, disabled, refreshes, api, store]);

  function send(name: string, call: ApiCall, onSuccess: (data: unknown) => void): void {
    if (pending !== null) return;
    setPending(name);
    run<unknown>({ name, call, onSuccess, onComplete: () => setPending(null) }).catch(ignoreApiError);
  }
  const storeResponse = (data: unknown) => store(checkupSource.read(data));
  const start = () => send(runCheckup.name, toCall(runCheckup, {}), storeResponse);

  function keep(key: string, title: string, value: 0 | 1): void {
    send(`keep:${key}`, toCall(keepFinding, { key, keep: value }), (data) => {
      storeResponse(data);
      if (value === 1) {
        toasts.show({
          ...undoToast({
            title: __('Kept, and left out next time', 'security-optimizer'),
            text: title,
            undo: () => keepAgain(key),
          }),
          key: keepFinding.name,
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
      call: toCall(keepFinding, { key, keep: 0 }),
      onSuccess: storeResponse,
    }).catch(ignoreApiError);
  }

  function reinstall(file: string): void {
    send(reinstallPlugins.name, toCall(reinstallPlugins, { only: [file] }), (data) => {
      const job = readStartedJob(data);
      if (job !== null) onJob(job);
    });
  }

  const locked = disabled || running !== null;
  return (
    <>
      <div className="so-card">
        <Verdict known={known} disabled={disabled} starting={pending === runCheckup.name} onLook={start} />
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
            <MissingCheckRow key={outcome.check} outcome={outcome} disabled={locked} onRetry={start} />
          ))}
        {latest === null ? null : (
          <>
            <KeptFindings kept={latest.kept} disabled={locked} onRelease={({ key, title }) => keep(key, title, 0)} />
            <Notes notes={latest.notes} />
            <ChecksLine result={latest} />
          </>
        )}
      </div>
      {known.weekly.time === '' ? null : <Weekly known={known} store={store} disabled={disabled} />}
      <Earlier known={known} store={store} />
    </>
  );
}

/** The switch of the weekly checkup, with its day, time and recipients. */
function Weekly({ known, store, disabled }: Pick<ResultProps, 'known' | 'store' | 'disabled'>) {
  const { changes, change } = useChanges<Partial<Checkup>>(checkupSource, store);
  const state = changes[settingRequestName('weekly_checkup')];
  const { weekly = known.weekly } = withPending<Partial<Checkup>>(known, changes);
  const isOn = weekly.weekly_checkup === 1;
  const [when, who] = weeklyHelp(weekly);
  const set = (value: 0 | 1) =>
    change({
      call: toSettingCall('weekly_checkup', value),
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
  const { run } = useRequestRunners();
  const moment = useMoment();
  const [loading, setLoading] = useState(false);
  if (earlier.length === 0) return null;

  function showAll(): void {
    setLoading(true);
    run<unknown>({
      name: 'allCheckups',
      call: toCall(checkup, { all: 1 }),
      onSuccess: (data) => {
        const { earlier: all, more: rest } = checkupSource.read(data);
        if (all === undefined) throw new ApiError('refused');
        store({ earlier: all, more: rest ?? 0 });
      },
      onComplete: () => setLoading(false),
    }).catch(ignoreApiError);
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
