import { randomUUID } from 'node:crypto';
import {
  CHECKS,
  type CheckName,
  type Checkup,
  EARLIER_SHOWN,
  REMOVED_MAX,
} from '@security-optimizer/contract/post-hack/checkup';
import type { WithMessages } from '@security-optimizer/contract/server-message';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { Rounds } from '../lib/rounds.js';
import { lastWeeklyTime, spreadMinute } from '../lib/time-zone.js';
import type { SecurityEvents } from '../security-events.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Findings, Part } from './checkup.js';
import type { Finding } from './checkup-findings.js';
import type { CheckupStore, StoredCheckup } from './checkup-store.js';
import { COPY_KEPT_MS, type RemovedFiles } from './removed-files-store.js';

/** Weekly checkups run at night in the site's time zone, spread over three hours of all days. */
const NIGHT = { first: 2 * 60, minutes: 3 * 60 };
const EVERY_MS = 60_000;
/** A checkup that was missed, since guard was stopped, runs within a day. */
const CATCH_UP_MS = 24 * 3600_000;
/** Maximum number of earlier checkups in a response. */
const EARLIER_MAX = 60;

/** How often old copies of removed files are deleted. */
const CLEAN_UP_EVERY_MS = 3600_000;

const NOT_FINISHED = 'The checkup could not be finished. Try again.';

export interface CheckupRunsOptions {
  readonly store: CheckupStore;
  /**
   * Runs the checks.
   * @param before administrators of the previous checkup
   * @param onCheck called when a check has ended
   */
  readonly examine: (site: SiteConfig, before: Findings['administrators'], onCheck: () => void) => Promise<Findings>;
  /**
   * Runs one check.
   * @param before administrators of the previous checkup
   */
  readonly examinePart: (site: SiteConfig, check: CheckName, before: Findings['administrators']) => Promise<Part>;
  /** Removed files whose copies are kept. */
  readonly copies: Pick<RemovedFiles, 'list' | 'deleteBefore'>;
  /** The sites, read at each round. */
  readonly sites: Iterable<SiteConfig>;
  readonly timeZone: (site: SiteId) => string;
  /** Whether the site is checked every week. */
  readonly isWeekly: (site: SiteId) => boolean;
  readonly securityEvents: Pick<SecurityEvents, 'report'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
}

export interface CheckupRuns {
  /** Starts a checkup, or joins the running one. Does not wait for its end. */
  begin(site: SiteConfig): void;
  /** Resolves when no checkup of the site is running. */
  ended(site: SiteId): Promise<void>;
  /**
   * Returns the data of the page. Throws StorageError.
   * @param all includes every earlier checkup
   * @param reader id of the user who sees the page and is never offered to remove themselves
   */
  describe(site: SiteId, all: boolean, reader: number | null): Promise<WithMessages<Omit<Checkup, 'weekly'>>>;
  /** Returns the day (0 is Sunday) and time of a site's weekly checkup. */
  weeklyTime(site: SiteId): { readonly day: number; readonly time: string };
  /** Counts findings of the latest checkup that are not kept. Throws StorageError. */
  countFindings(site: SiteId): Promise<number>;
  /**
   * @throws ApiError 404 for a finding that the latest checkup does not contain
   * @throws StorageError
   */
  markFinding(site: SiteId, key: string, keep: boolean, actor: Actor): Promise<void>;
  /**
   * Returns a finding of the latest checkup.
   * @throws ApiError 404 for a finding that it does not contain
   * @throws StorageError
   */
  findFinding(site: SiteId, key: string): Promise<Finding>;
  /**
   * Runs a task while no checkup of the site runs; one that is started meanwhile waits.
   * @throws ApiError checkup_running
   */
  exclusively<Result>(site: SiteId, task: () => Promise<Result>): Promise<Result>;
  /**
   * Repeats a check and replaces its part of the latest result. If the check can't run, that part remains. Call it in
   * a task of `exclusively`.
   * @param fixed key of a finding that was fixed, which does not remain; or null
   * @returns the findings of the check
   * @throws StorageError
   */
  checkAgain(site: SiteConfig, check: CheckName, fixed: string | null): Promise<readonly Finding[]>;
  start(): void;
  /** Runs the checkups that are due, one site after the other. Never throws. */
  round(): Promise<void>;
  stop(): Promise<void>;
}

interface Run {
  done: number;
  readonly ended: Promise<void>;
}

/** Returns the minute of the week at which a site is checked, counted from Monday 0:00. */
export function checkupMinute(site: SiteId): number {
  return spreadMinute(`weekly checkup\n${site}`, NIGHT);
}

/** Runs checkups: on an owner's request, and once a week. At most one at a time for each site. */
export function createCheckupRuns(deps: CheckupRunsOptions): CheckupRuns {
  const { store, copies, clock, logger, everyMs = EVERY_MS } = deps;
  const running = new Map<SiteId, Run>();
  const failed = new Set<SiteId>();
  const exclusive = new KeyedMutex();
  let cleanedAt = 0;
  /** A site that was never checked waits for its next time, so that guard's first start checks none. */
  const since = clock();
  const rounds = new Rounds(runDue, everyMs);

  function run(site: SiteConfig, slot: number | null): Promise<void> {
    const known = running.get(site.id);
    if (known !== undefined) return known.ended;
    const state = { done: 0 };
    const ended = exclusive
      .run(site.id, () => examineSite(site, slot, state))
      .then(
        () => failed.delete(site.id),
        (error: unknown) => {
          failed.add(site.id);
          logger.error({ event: 'checkup-failed', site: site.id, err: error }, 'A checkup could not be finished.');
        },
      )
      .then(() => void running.delete(site.id));
    running.set(site.id, Object.assign(state, { ended }));
    return ended;
  }

  async function examineSite(site: SiteConfig, slot: number | null, state: { done: number }): Promise<void> {
    const before = await store.latest(site.id);
    const at = clock();
    const found = await deps.examine(site, before?.administrators ?? null, () => {
      state.done += 1;
    });
    // When administrators could not be listed, those of the previous checkup are kept.
    const administrators = found.administrators ?? before?.administrators ?? null;
    const checkup = { ...found, administrators, id: randomUUID(), at };
    await store.save(site.id, checkup, slot);
    const missing = found.checks.filter(({ ran }) => ran === 0).map(({ check }) => check);
    const findings = found.findings.length;
    logger.info({ event: 'checkup', site: site.id, weekly: slot !== null, findings, missing }, 'A checkup has ended.');
    await reportNew(site.id, checkup, before, slot !== null);
  }

  /**
   * Reports findings that are new and not kept, and a weekly checkup in which a check could not run that ran before. A
   * user who starts a checkup sees the latter on the page.
   */
  async function reportNew(
    site: SiteId,
    { id, at, checks, findings }: StoredCheckup,
    before: StoredCheckup | null,
    weekly: boolean,
  ): Promise<void> {
    const known = new Set([...(before?.findings ?? []), ...(await store.listMarks(site))].map(({ key }) => key));
    const newFindings = findings.filter(({ key }) => !known.has(key));
    const ranBefore = (check: CheckName) => before?.checks.find((outcome) => outcome.check === check)?.ran !== 0;
    const isIncomplete = weekly && checks.some(({ check, ran }) => ran === 0 && ranBefore(check));
    if (newFindings.length === 0 && !isIncomplete) return;
    await deps.securityEvents.report(site, [
      {
        kind: 'checkup-finding',
        uid: `checkup-${id}`,
        at,
        findings: newFindings.map(({ title }) => title),
        ran: checks.filter(({ ran }) => ran === 1).length,
        checks: checks.length,
      },
    ]);
  }

  /** Returns the time of the weekly checkup that is due, or null. */
  async function findDueSlot(site: SiteId): Promise<number | null> {
    const now = clock();
    const slot = lastWeeklyTime(checkupMinute(site), deps.timeZone(site), now);
    if (now - slot >= CATCH_UP_MS || slots.get(site) === slot) return null;
    const last = await store.lastSlot(site);
    // Half a week, because a change of the site's time zone moves the time.
    const isDone = last === null ? slot < since : slot - last < 3.5 * 24 * 3600_000;
    if (isDone) slots.set(site, slot);
    return isDone ? null : slot;
  }

  /** The time of each site that needs no further query, so that a round queries the database for few sites. */
  const slots = new Map<SiteId, number>();

  /** Deletes copies of removed files after their time. */
  async function cleanUp(): Promise<void> {
    if (clock() - cleanedAt < CLEAN_UP_EVERY_MS) return;
    cleanedAt = clock();
    try {
      await copies.deleteBefore(cleanedAt - COPY_KEPT_MS);
    } catch (error) {
      logger.error({ event: 'copies-delete-failed', err: error }, 'Old copies of removed files can’t be deleted yet.');
    }
  }

  async function runDue(): Promise<void> {
    await cleanUp();
    for (const site of deps.sites) {
      if (rounds.isStopped) return;
      if (!deps.isWeekly(site.id)) continue;
      try {
        const slot = await findDueSlot(site.id);
        if (slot !== null) await run(site, slot);
      } catch (error) {
        logger.error({ event: 'checkup-failed', site: site.id, err: error }, 'A weekly checkup can’t run yet.');
      }
    }
  }

  async function findFinding(site: SiteId, key: string): Promise<Finding> {
    const finding = (await store.latest(site))?.findings.find((found) => found.key === key);
    if (finding !== undefined) return finding;
    throw new ApiError('not_found', {
      message: 'The latest checkup does not have this finding. Load the page again.',
    });
  }

  return {
    begin: (site) => void run(site, null),
    ended: async (site) => running.get(site)?.ended,
    async describe(site, all, reader) {
      const [latest, { list, more }, marks, removed] = await Promise.all([
        store.latest(site),
        store.earlier(site, all ? EARLIER_MAX : EARLIER_SHOWN),
        store.listMarks(site),
        copies.list(site, REMOVED_MAX),
      ]);
      const run = running.get(site);
      const byKey = new Map(marks.map((mark) => [mark.key, mark]));
      return {
        running: run === undefined ? null : { done: run.done, total: CHECKS.length },
        error: run === undefined && failed.has(site) ? NOT_FINISHED : '',
        latest: latest && {
          at: seconds(latest.at),
          checks: latest.checks,
          findings: latest.findings.filter(({ key }) => !byKey.has(key)).map((finding) => toResponse(finding, reader)),
          kept: latest.findings.flatMap(({ key, title }) => {
            const mark = byKey.get(key);
            return mark === undefined ? [] : [{ key, title, at: seconds(mark.at), by: mark.by }];
          }),
          notes: latest.notes,
        },
        earlier: list.map(({ at, ...entry }) => ({ ...entry, at: seconds(at) })),
        more,
        removed: removed.map(({ id, file, at, by }) => ({
          ...{ id, file, by },
          at: seconds(at),
          until: seconds(at + COPY_KEPT_MS),
        })),
      };
    },
    weeklyTime(site) {
      const minute = checkupMinute(site);
      const ofDay = minute % (24 * 60);
      const twoDigits = (value: number) => String(value).padStart(2, '0');
      const time = `${twoDigits(Math.floor(ofDay / 60))}:${twoDigits(ofDay % 60)}`;
      return { day: (Math.floor(minute / (24 * 60)) + 1) % 7, time };
    },
    async countFindings(site) {
      const [latest, marks] = await Promise.all([store.latest(site), store.listMarks(site)]);
      const known = new Set(marks.map(({ key }) => key));
      return latest?.findings.filter(({ key }) => !known.has(key)).length ?? 0;
    },
    async markFinding(site, key, keep, actor) {
      await store.setMark(site, await findFinding(site, key), keep, { actor, at: clock() });
    },
    findFinding,
    async exclusively(site, task) {
      if (running.has(site)) throw new ApiError('checkup_running');
      return exclusive.run(site, task);
    },
    async checkAgain(site, check, fixed) {
      const latest = await store.latest(site.id);
      if (latest === null) return [];
      const part = await deps.examinePart(site, check, latest.administrators);
      const ran = part.outcome.ran === 1 || part.findings.length > 0;
      const checkup = ran
        ? replacePart(latest, check, part)
        : { ...latest, findings: latest.findings.filter(({ key }) => key !== fixed) };
      await store.update(site.id, checkup);
      return checkup.findings.filter((finding) => finding.check === check);
    },
    start: () => rounds.start(),
    round: () => rounds.round(),
    // A checkup under way can take minutes.
    stop: async () => void rounds.stop(),
  };
}

/** Replaces what one check has found. Notes have no check: those that are new or have changed are replaced by id. */
function replacePart(
  checkup: StoredCheckup,
  check: CheckName,
  { outcome, findings, notes, ...part }: Part,
): StoredCheckup {
  const noteIds = new Set(checkup.notes.map(({ id }) => id));
  const newNotes = new Map(notes.map((note) => [note.id, note]));
  return {
    ...checkup,
    checks: checkup.checks.map((before) => (before.check === check ? outcome : before)),
    findings: CHECKS.flatMap((name) =>
      name === check ? findings : checkup.findings.filter((finding) => finding.check === name),
    ),
    notes: [
      ...checkup.notes.map((note) => newNotes.get(note.id) ?? note),
      ...notes.filter(({ id }) => !noteIds.has(id)),
    ],
    administrators: part.administrators ?? checkup.administrators,
  };
}

/** Converts a finding to the format of the contract. */
function toResponse({ removal, ...finding }: Finding, reader: number | null) {
  const isReader = removal?.kind === 'administrator' && removal.id === reader;
  return {
    ...finding,
    remove: removal === null || isReader ? ('' as const) : removal.kind,
    files: removal?.kind === 'files' ? removal.files.map(({ file }) => file) : [],
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
