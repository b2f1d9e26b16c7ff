import type { Job } from '@security-optimizer/contract/post-hack';
import { useRef } from 'react';
import { siteNow, timeOfDay } from '../../dates/site-now.js';
import { useDateTexts } from '../../dates/use-date-texts.js';
import { useSiteZone } from '../../dates/use-site-zone.js';
import { formatNumber } from '../../i18n/format-number.js';
import { __, sprintf } from '../../i18n/translate.js';
import { useServices } from '../../services.js';
import { actionTexts } from './action-texts.js';
import { progressText } from './job-words.js';
import { PluginList } from './plugin-list.js';

export interface JobPanelProps {
  readonly job: Job;
  /** Nothing can be started at the moment. */
  readonly disabled: boolean;
  /** Tries plugins again, or goes on with what stopped. @param only files of plugins; all that are left without it. Null when starting anew is the way */
  readonly onRetry: ((only?: readonly string[]) => void) | null;
}

/** How a job goes while it runs, and what came of it afterwards. */
export function JobPanel({ job, disabled, onRetry }: JobPanelProps) {
  const running = job.state === 'running';
  const hasList = job.items.length > 0;
  const panel = useRef<HTMLDivElement>(null);

  /** The button that was pressed goes away, and the focus would be lost with it. */
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
  const { config } = useServices();
  const text = progressText(job, (value) => formatNumber(value, config.localeSlug));
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
  const when = useMoment(job.ended ?? job.started);
  const title =
    job.state === 'done' ? __('Done', 'security-optimizer') : __('Stopped before its end', 'security-optimizer');
  /* translators: 1: day and time, 2: username */
  const [beforeName, afterName = ''] = sprintf(__('%1$s, started by %2$s', 'security-optimizer'), when, '\u0000').split(
    '\u0000',
  );
  return (
    <>
      <p>
        <b>{title}</b>
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

/** Day and time at the site, in the owner's language. @param seconds Unix seconds */
function useMoment(seconds: number): string {
  const texts = useDateTexts();
  const { day, minutes } = siteNow(useSiteZone(), seconds * 1000);
  return `${texts.shortDate(day)}, ${texts.time(timeOfDay(minutes))}`;
}
