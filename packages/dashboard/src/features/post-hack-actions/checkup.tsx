import {
  CHECKS,
  type CheckName,
  type Checkup,
  type CheckupFinding,
} from '@security-optimizer/contract/post-hack/checkup';
import {
  checkup,
  keepFinding,
  restoreFiles,
  runCheckup,
} from '@security-optimizer/contract/post-hack/checkup-endpoints';
import { type Job, reinstallPlugins } from '@security-optimizer/contract/post-hack/endpoints';
import { postHackRows } from '@security-optimizer/contract/settings/catalogue';
import { useEffect, useState } from 'react';
import { type ApiCall, TRACKED, type Tracking, toCall } from '../../api/client.js';
import { ApiError, ignoreApiError } from '../../api/envelope.js';
import { failureMessage } from '../../api/outcome-messages.js';
import { useSite } from '../../api/site-context.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes, restoreFocus } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { ErrorText } from '../../ui/inline-messages.js';
import { useDialogs } from '../../ui/lazy.js';
import { escapeText } from '../../ui/safe-html.js';
import { undoToast, useToasts } from '../../ui/toast-store.js';
import { useSetting } from '../settings/change-setting.js';
import { SettingRows, SettingSwitch } from '../settings/setting-controls.js';
import { SettingsSection } from '../settings/settings-section.js';
import { recentTimeText, useSiteClock } from '../settings/site-clock.js';
import { useSettings, useSettingsCache } from '../settings/use-settings.js';
import { checkupSource, remainderMessage, weeklyHelp } from './checkup-data.js';
import { FindingRow, KeptFindings, MissingCheckRow, Notes, RemovedFiles } from './checkup-rows.js';
import { ChecksLine, checkText, Verdict } from './checkup-verdict.js';
import { getPollMs, readStartedJob } from './post-hack-jobs.js';
import type { RemoveDialogProps } from './remove-dialog.js';

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
  const settings = useSettings(checkupSource, ({ running }, failed) =>
    getPollMs(running !== null && !disabled, failed),
  );
  const isLoading = settings.state === 'loading';
  useEffect(() => {
    if (!isLoading) onReady();
  }, [isLoading, onReady]);
  return (
    <SettingsSection
      title={__('Checkup', 'security-optimizer')}
      settings={settings}
      rows={1}
      failedText={__('We couldn’t load the result of the last checkup.', 'security-optimizer')}
      busy={settings.state === 'ready' && settings.values.running !== null}
    >
      {(known) => <Result known={known as Checkup} disabled={disabled} onJob={onJob} />}
    </SettingsSection>
  );
}

const dialogs = { remove: () => import('./remove-dialog.js') };
const RESTORE: Tracking = { successMessage: (_data, message) => remainderMessage(message) };

/** The button to focus if the one with the focus is gone: the first fix of a finding, or the start of a checkup. */
function findFix(): Element | null {
  return document.querySelector('.so-finding .so-btn') ?? document.querySelector('.so-verdict .so-btn');
}

interface ResultProps extends Omit<CheckupProps, 'onReady'> {
  readonly known: Checkup;
}

function Result({ known, disabled, onJob }: ResultProps) {
  const { api } = useSite();
  const { store, refetch } = useSettingsCache(checkupSource);
  const request = useSubmit();
  const toasts = useToasts();
  const dialog = useDialogs<'remove', RemoveDialogProps>(dialogs);
  const [removing, setRemoving] = useState<CheckupFinding | null>(null);
  const { running, latest, removed } = known;
  const pending = request.pending ? request.name : null;

  function send(name: string, call: ApiCall, onSuccess: (data: unknown) => void, tracking?: Tracking): void {
    request.save<unknown>({ ...tracking, name, call, onSuccess });
  }
  const storeResponse = (data: unknown) => store(checkupSource.read(data));
  const start = () => send(runCheckup.name, toCall(runCheckup, {}), storeResponse);

  function keep(key: string, title: string, value: 0 | 1): void {
    send(`keep:${key}`, toCall(keepFinding, { key, keep: value }), (data) => {
      storeResponse(data);
      restoreFocus(findFix);
      if (value === 1) {
        toasts.show({
          ...undoToast({
            title: __('Kept, and left out next time', 'security-optimizer'),
            text: escapeText(title),
            undo: () => revert(toCall(keepFinding, { key, keep: 0 })),
          }),
          key: keepFinding.name,
        });
      }
    });
  }
  /** It runs after the request that it reverts, so it does not see that one's state. */
  function revert(call: ApiCall, tracking: Tracking = TRACKED): void {
    api.call<unknown>(call, tracking).then(({ data }) => storeResponse(data), ignoreApiError);
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
            onRemove={() => {
              setRemoving(finding);
              dialog.open('remove');
            }}
          />
        ))}
        {latest?.checks
          .filter(({ ran }) => ran === 0)
          .map((outcome) => (
            <MissingCheckRow key={outcome.check} outcome={outcome} disabled={locked} onRetry={start} />
          ))}
        <KeptFindings kept={latest?.kept ?? []} disabled={locked} onRelease={({ key, title }) => keep(key, title, 0)} />
        <RemovedFiles
          removed={removed}
          disabled={locked}
          restoring={pending}
          onRestore={({ id }) =>
            send(
              id,
              toCall(restoreFiles, { ids: [id] }),
              (data) => {
                storeResponse(data);
                restoreFocus(() => document.querySelector('.so-removed .so-btn') ?? findFix());
              },
              RESTORE,
            )
          }
        />
        <Notes notes={latest?.notes ?? []} />
        {latest === null ? null : <ChecksLine result={latest} />}
      </div>
      {known.weekly.time === '' ? null : (
        <div className="so-card so-mt-16">
          <SettingRows
            source={checkupSource}
            rows={postHackRows}
            own={{ weekly_checkup: <Weekly key="weekly_checkup" weekly={known.weekly} disabled={disabled} /> }}
          />
        </div>
      )}
      <Earlier known={known} />
      {removing === null || dialog.Current === null ? null : (
        <dialog.Current
          finding={removing}
          removed={removed}
          onRemoved={storeResponse}
          findNextFocus={findFix}
          onUndo={(ids) => revert(toCall(restoreFiles, { ids }), RESTORE)}
          onUnclear={() => void refetch()}
          onClosed={dialog.closed}
        />
      )}
    </>
  );
}

interface WeeklyProps {
  readonly weekly: Checkup['weekly'];
  readonly disabled: boolean;
}

/** The switch of the weekly checkup, with its day, time and recipients. */
function Weekly({ weekly, disabled }: WeeklyProps) {
  const control = useSetting(checkupSource, postHackRows[0]);
  const [when, who] = weeklyHelp(weekly);
  return (
    <SettingSwitch
      control={control}
      disabled={disabled}
      help={
        <>
          {when} {who}
        </>
      }
    />
  );
}

/** Checkups before the latest one. */
function Earlier({ known: { earlier, more } }: Pick<ResultProps, 'known'>) {
  const { store } = useSettingsCache(checkupSource);
  const { pending: loading, save } = useSubmit();
  const toasts = useToasts();
  const clock = useSiteClock();
  if (earlier.length === 0) return null;

  function showAll(): void {
    save<unknown>({
      name: 'allCheckups',
      call: toCall(checkup, { all: 1 }),
      onSuccess: (data) => {
        const { earlier: all, more: rest } = checkupSource.read(data);
        if (all === undefined) toasts.show(failureMessage(new ApiError('refused'), undefined));
        else store({ earlier: all, more: rest ?? 0 });
      },
    });
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
                <bdi>{recentTimeText(at, clock)}</bdi>
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
