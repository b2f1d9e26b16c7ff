import type { Job, JobItem, JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import { useRef } from 'react';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../ui/icon.js';
import { dateTimeText, useSiteClock } from '../settings/site-clock.js';
import { actionTexts, outcomeTitle, progressText } from './post-hack-jobs.js';

export interface JobPanelProps {
  readonly job: Job;
  /** Whether actions are disabled. */
  readonly disabled: boolean;
  /**
   * Retries plugins or continues a stopped job; null if the action must be started again. @param only ids of plugins.
   * Default: all unfinished ones
   */
  readonly onRetry: ((only?: readonly string[]) => void) | null;
}

export interface SessionEndedProps {
  readonly kind: JobKind;
  readonly loginUrl: string;
  /** The owner's address; '' without one, null if unknown. */
  readonly email: string | null;
}

/** Shown instead of the progress, which is not available without a session: what has happened, and a login link. */
export function SessionEnded({ kind, loginUrl, email }: SessionEndedProps) {
  return (
    <div className="so-run so-run--out" role="status">
      <div className="so-run__head">
        <p>
          <b>{__('You are logged out', 'security-optimizer')}</b>
        </p>
        <p>{sessionEndedText(kind, email)}</p>
        <p>
          <a className="so-btn so-btn--primary" href={loginUrl}>
            {__('Log in', 'security-optimizer')}
          </a>
        </p>
      </div>
    </div>
  );
}

function sessionEndedText(kind: JobKind, email: string | null): string {
  if (kind === 'log-out-users') {
    return __('All sessions have ended, yours included. Log in with the same password.', 'security-optimizer');
  }
  if (kind === 'reinstall-plugins') {
    return __('What was started here goes on. Log in to see how it ends.', 'security-optimizer');
  }
  if (email === null || email === '') {
    return __(
      'No password from before works any more, yours included, and the mails are on their way. Choose a new password with the link in your mail, then log in to see how it went.',
      'security-optimizer',
    );
  }
  return sprintf(
    /* translators: %s: an e-mail address */
    __(
      'No password from before works any more, yours included, and the mails are on their way. Yours goes to %s: choose a new password with its link, then log in to see how it went.',
      'security-optimizer',
    ),
    email,
  );
}

/** Progress of a running job, or the result of an ended one. */
export function JobPanel({ job, disabled, onRetry }: JobPanelProps) {
  const running = job.state === 'running';
  const hasList = job.items.length > 0;
  const panel = useRef<HTMLDivElement>(null);

  /** The clicked button disappears, so move the focus. */
  function retry(only?: readonly string[]): void {
    onRetry?.(only);
    panel.current?.focus();
  }

  return (
    <div className="so-run" ref={panel} tabIndex={-1}>
      <div className="so-run__head">{running ? <Progress job={job} /> : <Outcome job={job} />}</div>
      {job.state === 'stopped' ? (
        <div className="so-run__stopped">
          <p>
            {job.error || __('It stopped before its end.', 'security-optimizer')}{' '}
            {disabled || onRetry === null ? null : (
              <button type="button" className="so-link" onClick={() => retry()}>
                {__('Try again', 'security-optimizer')}
              </button>
            )}
          </p>
        </div>
      ) : null}
      {hasList ? (
        <PluginList
          items={job.items}
          onRetry={running || disabled || onRetry === null ? null : (file) => retry([file])}
        />
      ) : null}
    </div>
  );
}

function Progress({ job }: { readonly job: Job }) {
  const text = progressText(job);
  const known = job.total > 0 && job.kind !== 'log-out-users';
  return (
    <>
      <p>
        <b>{text}</b>
        <span className="so-muted">{__('You can leave this page. We’ll carry on.', 'security-optimizer')}</span>
      </p>
      <div
        className={known ? 'so-progress' : 'so-progress is-open'}
        role="progressbar"
        aria-label={actionTexts(job.kind).title}
        aria-valuemin={0}
        aria-valuemax={known ? job.total : undefined}
        aria-valuenow={known ? Math.min(job.done, job.total) : undefined}
        aria-valuetext={text}
      >
        <i style={known ? { width: `${Math.min(100, (job.done / job.total) * 100)}%` } : undefined} />
      </div>
    </>
  );
}

function Outcome({ job }: { readonly job: Job }) {
  const when = dateTimeText(job.ended ?? job.started, useSiteClock(), 'shortDate');
  /* translators: 1: day and time, 2: username */
  const [beforeName, afterName = ''] = sprintf(__('%1$s, started by %2$s', 'security-optimizer'), when, '\u0000').split(
    '\u0000',
  );
  return (
    <>
      <p>
        <b>{outcomeTitle(job)}</b>
        <span className="so-muted">
          {beforeName}
          <bdi>{job.actor}</bdi>
          {afterName}
        </span>
      </p>
      {job.summary.length > 0 ? (
        <ul className="so-run__summary">
          {job.summary.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

interface PluginListProps {
  readonly items: readonly JobItem[];
  /** Null while retrying is disabled. */
  readonly onRetry: ((file: string) => void) | null;
}

/** The state of each plugin. Names are untrusted and shown as plain text. */
function PluginList({ items, onRetry }: PluginListProps) {
  return (
    <ul className="so-run__list">
      {items.map((item) => (
        <li key={item.id}>
          <b>
            <bdi>{item.name}</bdi>
          </b>
          <small className="so-num">
            <bdi>{item.version}</bdi>
          </small>
          <State item={item} onRetry={onRetry} />
          {item.files.length > 0 ? <Removed files={item.files} /> : null}
        </li>
      ))}
    </ul>
  );
}

function State({ item, onRetry }: { readonly item: JobItem; readonly onRetry: PluginListProps['onRetry'] }) {
  switch (item.state) {
    case 'waiting':
      return <span>{__('Waiting', 'security-optimizer')}</span>;
    case 'running':
      return (
        <span>
          <span className="so-spin" />
          {__('Reinstalling…', 'security-optimizer')}
        </span>
      );
    case 'done':
      return (
        <span className="is-ok">
          <Icon name="check" size={16} />
          {[__('Clean copy in place', 'security-optimizer'), item.reason].filter(Boolean).join('. ')}
        </span>
      );
    case 'skipped':
      return (
        <span>
          <Icon name="minus" size={16} />
          {[__('Skipped', 'security-optimizer'), item.reason].filter(Boolean).join('. ')}
        </span>
      );
    case 'unchecked':
      return (
        <span className="is-open">
          <Icon name="alert" size={16} />
          <span>
            {[__('Could not be checked', 'security-optimizer'), item.reason].filter(Boolean).join('. ')}{' '}
            <TryAgain item={item} onRetry={onRetry} />
          </span>
        </span>
      );
    case 'failed':
      return (
        <span className="is-bad">
          <Icon name="error" size={16} />
          <span>
            {item.reason || __('It could not be reinstalled.', 'security-optimizer')}{' '}
            <TryAgain item={item} onRetry={onRetry} />
          </span>
        </span>
      );
  }
}

function TryAgain({ item, onRetry }: { readonly item: JobItem; readonly onRetry: PluginListProps['onRetry'] }) {
  if (onRetry === null) return null;
  return (
    <button
      type="button"
      className="so-link"
      /* translators: %s: name of a plugin */
      aria-label={sprintf(__('Try again: %s', 'security-optimizer'), item.name)}
      onClick={() => onRetry(item.id)}
    >
      {__('Try again', 'security-optimizer')}
    </button>
  );
}

function Removed({ files }: { readonly files: readonly string[] }) {
  return (
    <details>
      <summary>
        {sprintf(
          /* translators: %d: number of files */
          _n(
            '%d file that is not part of it was removed',
            '%d files that are not part of it were removed',
            files.length,
            'security-optimizer',
          ),
          files.length,
        )}
      </summary>
      <ul className="so-run__files" dir="ltr">
        {files.map((file) => (
          <li key={file}>{file}</li>
        ))}
      </ul>
    </details>
  );
}
