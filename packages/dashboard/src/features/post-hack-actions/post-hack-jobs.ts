import {
  forcePasswordReset,
  type Job,
  type JobKind,
  job,
  logOutUsers,
  postHackSchema,
  reinstallPlugins,
} from '@security-optimizer/contract/post-hack/endpoints';
import { useEffect, useMemo, useReducer } from 'react';
import * as z from 'zod/mini';
import type { ApiCall } from '../../api/client.js';
import { SESSION_MESSAGE } from '../../api/outcome-messages.js';
import { useSite } from '../../api/site-context.js';
import { tolerant } from '../../api/tolerant-schemas.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { type Toast, useToasts } from '../../ui/toast-store.js';
import { postHackSource } from '../settings/settings-query.js';
import { useSettings, useSettingsCache } from '../settings/use-settings.js';

/** Polling interval while a job runs, milliseconds. */
const POLL_MS = 1000;
/** Polling interval after a failure, milliseconds. */
const POLL_AFTER_FAILURE_MS = 5000;

const EMPTY = {};

export interface PostHack {
  readonly settings: ReturnType<typeof useSettings<object>>;
  readonly known: PostHackState;
  /** Whether the session has ended; nothing can be fetched or started then. */
  readonly loggedOut: boolean;
  readonly getJob: (kind: JobKind) => Job | null;
  /** Stores a started job. */
  readonly addJob: (job: Job) => void;
  /** Fetches the jobs now. */
  readonly refresh: () => void;
  /** Called when the owner's own action has ended the session. Its row shows that. */
  readonly endSession: () => void;
}

/** The jobs and facts of the page; polled in the background while a job runs. */
export function usePostHack(): PostHack {
  const { config } = useSite();
  const toasts = useToasts();
  const cache = useSettingsCache(postHackSource);
  const [ended, endSession] = useReducer(() => true, false);
  const settings = useSettings(postHackSource, (values, failed) =>
    ended ? false : getPollMs(isRunning(readPostHack(values)), failed),
  );
  const loaded = settings.state === 'ready' ? settings.values : EMPTY;
  const known = useMemo(() => readPostHack(loaded), [loaded]);
  const { jobs } = known;

  const hasSession = settings.state !== 'ready' || settings.failure?.kind !== 'session_gone';
  useEffect(() => {
    if (!hasSession) toasts.show(sessionEndedNotice(config.loginUrl));
  }, [hasSession, toasts, config.loginUrl]);

  return {
    settings,
    known,
    loggedOut: ended || !hasSession,
    getJob: (kind) => jobs.find((job) => job.kind === kind) ?? null,
    addJob: (job) => cache.store({ jobs: [...jobs.filter(({ kind }) => kind !== job.kind), job] }),
    refresh: () => void cache.refetch(),
    endSession,
  };
}

/** Interval in which a running job is fetched again, milliseconds; false if none runs. */
export function getPollMs(running: boolean, failed: boolean): number | false {
  if (!running) return false;
  return failed ? POLL_AFTER_FAILURE_MS : POLL_MS;
}

function isRunning({ jobs }: PostHackState): boolean {
  return jobs.some((job) => job.state === 'running');
}

/** Jobs and facts; unknown facts are null and not shown. */
export type PostHackState = Readonly<z.output<typeof postHackSchema>>;

const NO_FACTS = { plugins: null, users: null, sessions: null };
const jobSchema = tolerant(job);
const schema = tolerant(z.extend(postHackSchema, { jobs: z.array(jobSchema) }), { facts: NO_FACTS });

/** Parses the response; invalid jobs are dropped. */
export function readPostHack(data: object): PostHackState {
  const { jobs, facts } = z.parse(schema, data);
  return { jobs: jobs.map(translateJob), facts };
}

/** The job in the response to a start; null when invalid. */
export function readStartedJob(data: unknown): Job | null {
  const { data: started } = z.safeParse(z.object({ job: jobSchema }), data);
  return started === undefined ? null : translateJob(started.job);
}

/** Translates the texts of a job and fills in missing names. */
function translateJob(read: Job): Job {
  return {
    ...read,
    items: read.items.map((item) => ({ ...item, name: item.name || item.id, reason: translate(item.reason) })),
    summary: read.summary.map(translate),
    error: translate(read.error),
  };
}

const ENDPOINTS = {
  'reinstall-plugins': reinstallPlugins,
  'force-password-reset': forcePasswordReset,
  'log-out-users': logOutUsers,
};

/** The call that starts an action. */
export function toStartCall(kind: JobKind, request: object = {}): ApiCall {
  return { endpoint: ENDPOINTS[kind], request };
}

/** Creates the toast that the session ended during a job, for example by another administrator's action. */
function sessionEndedNotice(loginUrl: string): Toast {
  return {
    type: 'info',
    title: __('You are logged out', 'security-optimizer'),
    text: __('Your session has ended like all others. What was started here goes on.', 'security-optimizer'),
    autoClose: false,
    key: SESSION_MESSAGE,
    action: { label: __('Log in', 'security-optimizer'), href: loginUrl },
  };
}

export interface ActionTexts {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** Text of the button, and title of the dialog. */
  readonly act: string;
  readonly acting: string;
}

/** The texts of an action. */
export function actionTexts(kind: JobKind): ActionTexts {
  switch (kind) {
    case 'reinstall-plugins':
      return {
        icon: 'rotate',
        title: __('Reinstall all free plugins', 'security-optimizer'),
        help: __('Replaces the code of every free plugin with a clean copy of the same version.', 'security-optimizer'),
        act: __('Reinstall all', 'security-optimizer'),
        acting: __('Reinstalling…', 'security-optimizer'),
      };
    case 'force-password-reset':
      return {
        icon: 'password',
        title: __('Force password reset', 'security-optimizer'),
        help: __(
          'Everyone is logged out at once and must choose a new password at the next login.',
          'security-optimizer',
        ),
        act: __('Force password reset', 'security-optimizer'),
        acting: __('Resetting…', 'security-optimizer'),
      };
    case 'log-out-users':
      return {
        icon: 'logout',
        title: __('Log out all users', 'security-optimizer'),
        help: __('Ends every session at once. Passwords stay the same.', 'security-optimizer'),
        act: __('Log out all users', 'security-optimizer'),
        acting: __('Logging out…', 'security-optimizer'),
      };
  }
}

/** Formats the progress of a running job, for example "3 of 12 plugins done". @param number formats a number */
export function progressText(job: Job): string {
  if (job.total === 0) return __('Starting…', 'security-optimizer');
  const [done, total] = [formatNumber(job.done), formatNumber(job.total)];
  switch (job.kind) {
    case 'reinstall-plugins':
      return sprintf(
        /* translators: 1: plugins that are done, 2: all plugins */
        _n('%1$s of %2$s plugin done', '%1$s of %2$s plugins done', job.total, 'security-optimizer'),
        done,
        total,
      );
    case 'force-password-reset':
      return sprintf(
        /* translators: 1: users who got their mail, 2: all users */
        _n('%1$s of %2$s user done', '%1$s of %2$s users done', job.total, 'security-optimizer'),
        done,
        total,
      );
    case 'log-out-users':
      return __('Ending sessions…', 'security-optimizer');
  }
}

/** Returns the title of an ended job's result. "Done" only if something was done and nothing failed. */
export function outcomeTitle({ kind, state, items }: Job): string {
  if (state === 'stopped') return __('Stopped before its end', 'security-optimizer');
  if (kind !== 'reinstall-plugins') return __('Done', 'security-optimizer');
  const isMissing = items.some((item) => item.state === 'failed' || item.state === 'unchecked');
  if (items.some((item) => item.state === 'done')) {
    return isMissing ? __('Done in part', 'security-optimizer') : __('Done', 'security-optimizer');
  }
  return isMissing
    ? __('Nothing was reinstalled', 'security-optimizer')
    : __('There was nothing to reinstall', 'security-optimizer');
}

/** Formats the progress for screen readers. It changes only at each quarter and at the end, to limit announcements. */
export function announcement(job: Job, title: string): string {
  if (job.state === 'stopped') return `${title}: ${__('Stopped', 'security-optimizer')}. ${job.error}`;
  if (job.state === 'done') return `${title}: ${outcomeTitle(job)}. ${job.summary.join(' ')}`;
  const quarter = job.total === 0 ? 0 : Math.floor((job.done * 4) / job.total);
  if (quarter === 0) return `${title}: ${__('started', 'security-optimizer')}`;
  /* translators: %d: a number from 25 to 100 */
  return `${title}: ${sprintf(__('%d percent done', 'security-optimizer'), quarter * 25)}`;
}

/** Returns the ids of plugins that still need a clean copy. */
export function listUnfinished({ items }: Job): string[] {
  return items.filter(({ state }) => state !== 'done' && state !== 'skipped').map(({ id }) => id);
}
