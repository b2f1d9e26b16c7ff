import type { Job, JobItem, JobKind } from '@security-optimizer/contract/post-hack';
import { isFields, textOf, textsOf } from '../../data/fields.js';
import { translate } from '../../i18n/translate.js';

/** What is known of the actions. A fact that is null is not known and not shown. */
export interface PostHackState {
  readonly jobs: readonly Job[];
  readonly facts: Readonly<Record<'plugins' | 'users' | 'sessions', number | null>>;
}

const KINDS: readonly JobKind[] = ['reinstall-plugins', 'force-password-reset', 'log-out-users'];
const JOB_STATES: readonly Job['state'][] = ['running', 'done', 'stopped'];
const ITEM_STATES: readonly JobItem['state'][] = ['waiting', 'running', 'done', 'failed', 'skipped'];

/** Reads what was answered. Jobs that have not the form that the contract gives them count as not known. */
export function readPostHack(data: { readonly jobs?: unknown; readonly facts?: unknown }): PostHackState {
  const facts = isFields(data.facts) ? data.facts : {};
  return {
    jobs: Array.isArray(data.jobs) ? data.jobs.map(readJob).filter((job) => job !== null) : [],
    facts: { plugins: count(facts.plugins), users: count(facts.users), sessions: count(facts.sessions) },
  };
}

/** A job, or null when it can't be used. */
export function readJob(data: unknown): Job | null {
  if (!isFields(data)) return null;
  const kind = KINDS.find((known) => known === data.kind);
  const state = JOB_STATES.find((known) => known === data.state);
  if (kind === undefined || state === undefined) return null;
  return {
    id: textOf(data.id),
    kind,
    state,
    started: count(data.started) ?? 0,
    ended: count(data.ended),
    actor: textOf(data.actor),
    done: count(data.done) ?? 0,
    total: count(data.total) ?? 0,
    items: Array.isArray(data.items) ? data.items.map(readItem).filter((item) => item !== null) : [],
    summary: textsOf(data.summary).map(translate),
    error: translate(textOf(data.error)),
  };
}

function readItem(data: unknown): JobItem | null {
  if (!isFields(data)) return null;
  const state = ITEM_STATES.find((known) => known === data.state);
  if (state === undefined) return null;
  const { id, name, version, reason } = data;
  return {
    id: textOf(id),
    name: textOf(name) || textOf(id),
    version: textOf(version),
    state,
    reason: translate(textOf(reason)),
    files: textsOf(data.files),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
