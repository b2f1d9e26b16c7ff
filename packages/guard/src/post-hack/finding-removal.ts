import { createHash } from 'node:crypto';
import type { CheckName } from '@security-optimizer/contract/post-hack/checkup';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { escapeMarkup } from '../lib/plain-text.js';
import type { Actor, AuditEntry, AuditStore } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { FileTarget, PostHackCommands } from '../wordpress/connector-commands.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { Removal } from './checkup-findings.js';
import type { CheckupRuns } from './checkup-runs.js';
import { COPIES_MAX_BYTES, type FileCopy, type RemovedFiles, toRemovedId } from './removed-files-store.js';

/** Bytes of a file in one command. */
const PART_BYTES = 128 * 1024;
/** Largest file of which a copy is kept, bytes; as in the connector. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;
/** A call starts no further file after this time, milliseconds: the page waits for 90 s, and the check follows. */
const CALL_MS = 40_000;

/** Setting names of the audit rows. */
const REMOVED_AUDIT = 'checkup_file_removed';
const RESTORED_AUDIT = 'checkup_file_restored';

/** Why a file stays, or stays away, by the connector's codes and guard's own ones. */
const REASONS = {
  gone: { title: 'It is no longer there.' },
  changed: { title: 'It has changed since the checkup.' },
  linked: { title: 'It is a link, or lies behind one. Ask your hosting provider to look at it.' },
  in_use: {
    title: 'Every page loads it, so the site may stop without it. Ask your hosting provider to remove it.',
  },
  too_large: { title: 'It is larger than 4 MB, so no copy can be kept. Delete it by SFTP.' },
  not_readable: { title: 'WordPress may not read it. Ask your hosting provider to look at it.' },
  not_writable: { title: 'WordPress may not change its folder. Ask your hosting provider to look at it.' },
  copies_full: { title: 'The copies of removed files take up 64 MB already. Delete it by SFTP.' },
  not_reached: { title: 'WordPress did not answer. Try again in a minute.' },
  no_time: { title: 'There was no time left for it. Try again to go on.' },
  another_file: { title: 'Another file has taken its place.' },
  copy_gone: { title: 'Its copy is no longer kept.' },
  not_removed_here: { title: 'WordPress does not know that it was removed, so it may not write it.' },
  interrupted: { title: 'It was interrupted. Try again.' },
  disk_full: { title: 'The disk is full.' },
} as const;
const OTHER_REASON = 'WordPress could not do it.';

const ADMINISTRATOR_REASONS: Readonly<Record<string, { readonly title: string }>> = {
  yourself: { title: 'You can’t remove yourself.' },
  network_administrator: {
    title: 'This user administers the network. Take that away on the page of the network’s users first.',
  },
  not_allowed: { title: 'WordPress does not allow you to delete users.' },
  not_deleted: { title: 'WordPress did not delete the user. A plugin may prevent it.' },
};

const NO_ADMINISTRATOR = 'This user is no longer an administrator. Nothing was changed.';

const CORE_NOT_COMPARED =
  'Core files can’t be compared at the moment, and a file may have become part of WordPress. Try again later.';

/** A file that was not removed or restored. */
interface Left {
  readonly file: string;
  readonly reason: string;
}

export interface FindingRemovalOptions {
  readonly checkups: Pick<CheckupRuns, 'findFinding' | 'exclusively' | 'checkAgain'>;
  readonly copies: RemovedFiles;
  readonly commands: Pick<
    PostHackCommands,
    'core' | 'readFinding' | 'removeFinding' | 'restoreFinding' | 'removeAdministrator'
  >;
  /** URL of the checksums of WordPress itself. */
  readonly coreChecksums: string;
  readonly audit: AuditStore;
  /** Called after rows were added to the audit trail. */
  readonly onAudit: () => void;
  /** Called when a user's sessions have ended. */
  readonly forgetSessions: (site: SiteConfig) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface FindingRemoval {
  /**
   * Removes what a finding names, and repeats its check.
   * @param only indices of the files; null for all
   * @returns what was left and why; empty when everything was removed
   * @throws ApiError not_found, not_removed, checkup_running, invalid_input
   * @throws ConnectorError, StorageError
   */
  remove(
    site: SiteConfig,
    wanted: { readonly key: string; readonly only: readonly number[] | null },
    actor: Actor,
  ): Promise<ServerText>;
  /**
   * Restores removed files, and repeats the checks that look at them.
   * @returns what was left and why; empty when all files are back
   * @throws ApiError not_restored, checkup_running
   * @throws ConnectorError, StorageError
   */
  restore(site: SiteConfig, ids: readonly string[], actor: Actor): Promise<ServerText>;
}

/** Removes what the checkup has found. A file is deleted only after its copy is stored. */
export function createFindingRemoval(deps: FindingRemovalOptions): FindingRemoval {
  const { checkups, copies, commands, clock, logger } = deps;

  async function removeAdministrator(
    site: SiteConfig,
    key: string,
    { id, registered }: Extract<Removal, { kind: 'administrator' }>,
    actor: Actor,
  ): Promise<ServerText> {
    if (actor.id === null) throw new ApiError('not_removed', { message: 'Only a user of WordPress can do this.' });
    const reason = await commands.removeAdministrator(site, { id, registered }, actor.id);
    deps.forgetSessions(site);
    logger.info(
      { event: 'administrator-removed', site: site.id, removed: id, user: actor.id, reason },
      'An administrator whom the checkup had found was removed, or could not be.',
    );
    await checkups.checkAgain(site, 'administrators', reason === '' ? key : null);
    if (reason === '') return '';
    if (reason === 'gone') return NO_ADMINISTRATOR;
    throw new ApiError('not_removed', { message: ADMINISTRATOR_REASONS[reason]?.title ?? OTHER_REASON });
  }

  async function removeFiles(
    site: SiteConfig,
    files: readonly (FileTarget & { readonly file: string })[],
    actor: Actor,
  ): Promise<readonly Left[]> {
    // One time for all, so that they are listed together.
    const by = { actor, at: clock() };
    const known = files.some(({ check }) => check === 'core') ? await listUnknownCoreFiles(site) : null;
    return runEach(site, files, REMOVED_AUDIT, actor, async (target) => {
      // An update of WordPress may have made it a part of WordPress since.
      if (target.check === 'core' && known?.has(toRemovedId(target)) !== true) return 'changed';
      return removeFile(site, target, by);
    });
  }

  async function removeFile(
    site: SiteConfig,
    target: FileTarget & { readonly file: string },
    by: { readonly actor: Actor; readonly at: number },
  ): Promise<string> {
    const copy = await readCopy(site, target);
    if (typeof copy === 'string') return copy;
    const id = toRemovedId(target);
    const hadCopy = await copies.has(site.id, id);
    const { check, path, state, file } = target;
    await copies.add(site.id, { id, check, path, state, file, at: by.at, by: by.actor.login, ...copy });
    const reason = await commands.removeFinding(site, target);
    // After an unknown outcome the copy stays: the file may be gone.
    if (reason !== '' && !hadCopy) await copies.delete(site.id, id);
    return reason;
  }

  /** Reads a file in parts. Returns the code of a reason if no copy can be kept. */
  async function readCopy(
    site: SiteConfig,
    target: FileTarget,
  ): Promise<Pick<FileCopy, 'content' | 'mode' | 'changedAt'> | string> {
    const parts: Buffer[] = [];
    for (let bytes = 0; ; ) {
      const read = await commands.readFinding(site, target, bytes);
      if (read.reason !== '') return read.reason;
      if (read.size > FILE_MAX_BYTES) return 'too_large';
      if (bytes === 0 && (await copies.countBytes(site.id)) + read.size > COPIES_MAX_BYTES) return 'copies_full';
      const part = Buffer.from(read.content, 'base64');
      parts.push(part);
      bytes += part.length;
      if (bytes < read.size && part.length > 0) continue;
      const content = Buffer.concat(parts);
      const isWhole = createHash('sha256').update(content).digest('hex') === target.state;
      return isWhole ? { content, mode: read.mode, changedAt: read.at } : 'changed';
    }
  }

  async function listUnknownCoreFiles(site: SiteConfig): Promise<ReadonlySet<string>> {
    const files = await commands.core(site, deps.coreChecksums);
    if (typeof files === 'string') throw new ApiError('not_removed', { message: CORE_NOT_COMPARED });
    return new Set(files.unknown.files.map(({ path, state }) => toRemovedId({ check: 'core', path, state })));
  }

  async function restoreFile(site: SiteConfig, id: string): Promise<string> {
    const copy = await copies.find(site.id, id);
    if (copy === null) return 'copy_gone';
    const { content, mode, changedAt } = copy;
    let offset = 0;
    do {
      const part = content.subarray(offset, offset + PART_BYTES);
      const reason = await commands.restoreFinding(site, copy, {
        ...{ offset, size: content.length, mode, at: changedAt },
        content: part.toString('base64'),
      });
      if (reason !== '') return reason;
      offset += part.length;
    } while (offset < content.length);
    await copies.delete(site.id, id);
    return '';
  }

  /**
   * Runs a task for each file while there is time. What was done is recorded, also when WordPress stops answering.
   * @param task returns the code of the reason why nothing was done, or ''
   */
  async function runEach<Item extends { readonly file: string }>(
    site: SiteConfig,
    items: readonly Item[],
    audit: typeof REMOVED_AUDIT | typeof RESTORED_AUDIT,
    actor: Actor,
    task: (item: Item) => Promise<string>,
  ): Promise<readonly Left[]> {
    const until = clock() + CALL_MS;
    const done: string[] = [];
    const left: Left[] = [];
    for (const [index, item] of items.entries()) {
      if (clock() > until) {
        left.push(...items.slice(index).map(({ file }) => ({ file, reason: 'no_time' })));
        break;
      }
      try {
        const reason = await task(item);
        if (reason === '') done.push(item.file);
        else left.push({ file: item.file, reason });
      } catch (error) {
        if (!(error instanceof ConnectorError) || done.length === 0) {
          await record(site, audit, done, actor);
          throw error;
        }
        left.push(...items.slice(index).map(({ file }) => ({ file, reason: 'not_reached' })));
        break;
      }
    }
    await record(site, audit, done, actor);
    logger.info(
      {
        event: audit === REMOVED_AUDIT ? 'files-removed' : 'files-restored',
        site: site.id,
        done,
        left,
        user: actor.id,
      },
      'Files that the checkup had found were removed or restored.',
    );
    return left;
  }

  async function record(site: SiteConfig, name: string, files: readonly string[], actor: Actor): Promise<void> {
    if (files.length === 0) return;
    const isRemoval = name === REMOVED_AUDIT;
    const entries = files.map(
      (file): AuditEntry => ({ name, before: isRemoval ? { file } : null, after: isRemoval ? null : { file } }),
    );
    await deps.audit.add(site.id, { actor, at: clock() }, entries);
    deps.onAudit();
  }

  return {
    remove: (site, { key, only }, actor) =>
      checkups.exclusively(site.id, async () => {
        const { check, removal } = await checkups.findFinding(site.id, key);
        if (removal === null) throw new ApiError('not_removed', { message: 'This finding needs another fix.' });
        if (removal.kind === 'administrator') return removeAdministrator(site, key, removal, actor);
        const files = select(removal.files, only).map((file) => ({ ...file, check: check as FileTarget['check'] }));
        const left = await removeFiles(site, files, actor);
        const isFixed = left.length === 0 && files.length === removal.files.length;
        const findings = await checkups.checkAgain(site, check, isFixed ? key : null);
        // Files that are gone or have changed are another finding now, which the response shows.
        if (left.length === files.length && findings.some((finding) => finding.key === key)) {
          throw new ApiError('not_removed', { message: describeLeft(left, 'not_removed_because') });
        }
        return left.length === 0 ? '' : describeLeft(left, 'not_removed_because');
      }),

    restore: (site, ids, actor) =>
      checkups.exclusively(site.id, async () => {
        const listed = new Map((await copies.list(site.id, Number.MAX_SAFE_INTEGER)).map((file) => [file.id, file]));
        const files = [...new Set(ids)].map((id) => ({ id, file: listed.get(id)?.file ?? id.slice(0, 12) }));
        const left = await runEach(site, files, RESTORED_AUDIT, actor, ({ id }) => restoreFile(site, id));
        const checks = new Set<CheckName>(files.flatMap(({ id }) => listed.get(id)?.check ?? []));
        for (const check of checks) await checkups.checkAgain(site, check, null);
        if (left.length === files.length) {
          throw new ApiError('not_restored', { message: describeLeft(left, 'not_restored_because') });
        }
        return left.length === 0 ? '' : describeLeft(left, 'not_restored_because');
      }),
  };
}

function select<Item>(items: readonly Item[], only: readonly number[] | null): readonly Item[] {
  if (only === null) return items;
  const selected = items.filter((_item, index) => only.includes(index));
  if (selected.length < new Set(only).size) {
    throw new ApiError('invalid_input', { fields: { only: 'The finding does not have so many files.' } });
  }
  return selected;
}

function describeLeft(left: readonly Left[], code: 'not_removed_because' | 'not_restored_because'): ServerText {
  const [{ file, reason } = { file: '', reason: '' }, ...others] = left;
  const known: Readonly<Record<string, { readonly title: string }>> = REASONS;
  const params = { file: escapeMarkup(file), reason: { text: known[reason]?.title ?? OTHER_REASON } };
  if (others.length === 0) return serverMessage(code, params);
  return serverMessage(`${code}_more`, { ...params, count: others.length });
}
