import { JOB_KINDS, type Job, type JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { useSubmit } from '../../forms/use-submit.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { restoreFocus } from '../../ui/dom.js';
import { Icon, IconTile } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import { Lazy, useDialogs, usePlaced } from '../../ui/lazy.js';
import { Section } from '../../ui/section.js';
import { SettingsSection, SettingsSkeleton } from '../settings/settings-section.js';
import type { ActionDialogProps } from './action-dialog.js';
import { JobPanel, SessionEnded } from './job-panel.js';
import {
  actionTexts,
  announcement,
  listUnfinished,
  type PostHack,
  type PostHackState,
  readStartedJob,
  toStartCall,
  usePostHack,
} from './post-hack-jobs.js';

/** Post-hack Actions: the checkup, three actions and their jobs. */
export default function PostHackActionsPage() {
  const page = usePostHack();
  const { settings } = page;
  // The parts below wait for the checkup.
  const [ready, setReady] = useState(false);
  const placed = usePlaced(ready);
  const onReady = useCallback(() => setReady(true), []);
  return (
    <>
      <Lazy load={loadCheckup} props={{ onReady, disabled: page.loggedOut, onJob: page.addJob }}>
        <Section title={__('Checkup', 'security-optimizer')} busy>
          <SettingsSkeleton rows={1} />
        </Section>
      </Lazy>
      {placed ? (
        <>
          <section className="so-section" aria-label={__('Where to start', 'security-optimizer')}>
            <Note>
              <p>
                <strong>{__('Not sure where to start?', 'security-optimizer')}</strong>{' '}
                {__(
                  'Reinstall the plugins first, then force a password reset. If the trouble stays, restore a back-up or ask your host.',
                  'security-optimizer',
                )}
              </p>
            </Note>
          </section>
          <SettingsSection
            title={__('Post-hack Actions', 'security-optimizer')}
            settings={settings}
            rows={3}
            failedText={__('We couldn’t see whether an action is under way.', 'security-optimizer')}
          >
            {() => <Actions page={page} />}
          </SettingsSection>
        </>
      ) : null}
    </>
  );
}

const loadCheckup = () => import('./checkup.js');
const dialogs = { action: () => import('./action-dialog.js') };

interface ActionsProps {
  readonly page: PostHack;
}

/** The three actions in recommended order. */
function Actions({ page }: ActionsProps) {
  const { config } = useSite();
  const { pending: retrying, save } = useSubmit();
  const [confirming, setConfirming] = useState<JobKind | null>(null);
  const dialog = useDialogs<'action', ActionDialogProps>(dialogs);
  /** The action with which the owner ended this session. */
  const [endedBy, setEndedBy] = useState<JobKind | null>(null);
  const card = useRef<HTMLDivElement>(null);
  const { jobs, facts } = page.known;
  const costs = listFacts(facts);

  const isOpen = dialog.Current !== null;
  // The button that opened the dialog is disabled now. The focus moves once the dialog is removed.
  useEffect(() => {
    if (endedBy !== null && !isOpen) restoreFocus(() => card.current?.querySelector('.so-run--out a'));
  }, [endedBy, isOpen]);

  function began(job: Job | null, loggedOut: boolean): void {
    if (job !== null) page.addJob(job);
    if (!loggedOut) return;
    setEndedBy(confirming);
    page.endSession();
  }

  function retry(job: Job, only?: readonly string[]): void {
    // Continue a password reset with its mails; do not log everyone out again.
    const request = job.kind === 'reinstall-plugins' ? { only: only ?? listUnfinished(job) } : { go_on: 1 };
    save<unknown>({
      call: toStartCall(job.kind, request),
      onSuccess: (data) => began(readStartedJob(data), false),
      onFailure: page.refresh,
    });
  }

  return (
    <div className="so-card" ref={card}>
      {JOB_KINDS.map((kind) => {
        const job = page.getJob(kind);
        return (
          <ActionRow
            key={kind}
            kind={kind}
            job={job}
            facts={costs[kind]}
            disabled={page.loggedOut}
            onStart={() => {
              setConfirming(kind);
              dialog.open('action');
            }}
          >
            {kind === endedBy || (page.loggedOut && job?.state === 'running') ? (
              <SessionEnded kind={kind} loginUrl={config.loginUrl} email={config.userEmail} />
            ) : job === null ? null : (
              <JobPanel
                job={job}
                disabled={page.loggedOut || retrying}
                onRetry={kind === 'log-out-users' ? null : (only) => retry(job, only)}
              />
            )}
          </ActionRow>
        );
      })}
      <Announcer jobs={jobs} />
      {confirming === null || dialog.Current === null ? null : (
        <dialog.Current
          kind={confirming}
          facts={facts}
          onStarted={began}
          onUnclear={page.refresh}
          onClosed={dialog.closed}
        />
      )}
    </div>
  );
}

/** Facts about each action; unknown ones are omitted. */
function listFacts({ plugins, users, sessions }: PostHackState['facts']): Readonly<Record<JobKind, readonly Fact[]>> {
  const known = (icon: string, value: number | null, text: (value: number) => string): Fact[] =>
    value === null ? [] : [{ icon, text: text(value).replace('%s', () => formatNumber(value)) }];
  return {
    'reinstall-plugins': [
      { icon: 'check', text: __('Settings and content stay', 'security-optimizer') },
      ...known('plugin', plugins, (value) =>
        /* translators: %s: number of plugins */
        _n('%s plugin', '%s plugins', value, 'security-optimizer'),
      ),
    ],
    'force-password-reset': [
      { icon: 'logout', text: __('You are logged out too', 'security-optimizer') },
      ...known('users', users, (value) =>
        /* translators: %s: number of users */
        _n('%s user', '%s users', value, 'security-optimizer'),
      ),
    ],
    'log-out-users': [
      { icon: 'logout', text: __('You are logged out too, unless you choose to stay', 'security-optimizer') },
      ...known('users', sessions, (value) =>
        /* translators: %s: number of sessions */
        _n('%s open session', '%s open sessions', value, 'security-optimizer'),
      ),
    ],
  };
}

interface Fact {
  readonly icon: string;
  readonly text: string;
}

interface ActionRowProps {
  readonly kind: JobKind;
  readonly job: Job | null;
  /** Effects and numbers, a few words each. */
  readonly facts: readonly Fact[];
  readonly disabled: boolean;
  readonly onStart: () => void;
  /** Progress or result of the job. */
  readonly children: ReactNode;
}

/** The row of an action. */
function ActionRow({ kind, job, facts, disabled, onStart, children }: ActionRowProps) {
  const texts = actionTexts(kind);
  const running = job?.state === 'running';
  return (
    <>
      <div className="so-row">
        <IconTile name={texts.icon} state="off" />
        <div className="so-row__text">
          <h3>
            <span>{texts.title}</span>
          </h3>
          <p>{texts.help}</p>
          <ul className="so-facts">
            {facts.map(({ icon, text }) => (
              <li key={text}>
                <Icon name={icon} size={16} />
                {text}
              </li>
            ))}
          </ul>
        </div>
        <div className="so-row__ctl">
          <Button onClick={onStart} disabled={disabled} pendingText={running && !disabled ? texts.acting : undefined}>
            {texts.act}
          </Button>
        </div>
      </div>
      {children}
    </>
  );
}

/** Announces jobs to screen readers that ran while the page was open. */
function Announcer({ jobs }: { readonly jobs: readonly Job[] }) {
  const seenRunning = useRef(new Set<string>());
  for (const { id, state } of jobs) if (state === 'running') seenRunning.current.add(id);
  return (
    <div className="so-vh" role="status">
      {jobs
        .filter(({ id }) => seenRunning.current.has(id))
        .map((job) => (
          <p key={job.kind}>{announcement(job, actionTexts(job.kind).title)}</p>
        ))}
    </div>
  );
}
