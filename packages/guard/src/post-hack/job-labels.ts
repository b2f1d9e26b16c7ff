import type { JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { plainText } from '../lib/plain-text.js';
import type { AuditEntry, JsonValue } from '../settings/audit-store.js';
import type { StoredItem, StoredJob } from './jobs-store.js';

/** Maximum length of a displayed file name. */
const FILE_MAX = 200;

/** Why a plugin was not reinstalled, by the connector's codes. */
const reasons: Readonly<Record<string, string>> = {
  not_free: 'Not a free plugin of the plugin directory.',
  own_updates: 'It gets its updates from somewhere else than the plugin directory.',
  another_plugin: 'The plugin directory has another plugin of the same name.',
  no_version: 'Its version can’t be read.',
  version_gone: 'The plugin directory no longer offers this version. Update the plugin instead.',
  linked: 'Its folder is a link to another place.',
  upgrade_linked: 'The folder wp-content/upgrade is a link to another place.',
  gone: 'It is no longer installed.',
  directory_unreachable: 'The plugin directory does not answer.',
  no_checksums: 'The plugin directory has no checksums for this version, so a copy can’t be checked.',
  download_failed: 'The download failed. The old copy is still in place.',
  checksum_differs: 'The download was damaged or changed. The old copy is still in place.',
  not_on_list: 'The plugin directory has no checksum for a file of the download. The old copy is still in place.',
  disk_full: 'The disk is full. The old copy is still in place.',
  not_writable: 'WordPress may not change its folder. The old copy is still in place.',
  not_stored: 'WordPress could not note what it was about to do. The old copy is still in place.',
  swap_failed: 'The clean copy could not be put in place. The old copy is back.',
  not_put_back: 'The plugin’s folder could not be put back. Try again, or install the plugin by hand.',
};

/**
 * @param changed number of files of the old copy that differed from the clean one
 * @param refused file of the package that could not be verified, or ''
 */
export function reinstallReason(code: string, changed = 0, refused = ''): ServerText {
  const file = plainText(refused, FILE_MAX);
  if (file !== '' && code === 'checksum_differs') return serverMessage('download_differs', { file });
  if (file !== '' && code === 'not_on_list') return serverMessage('download_not_on_list', { file });
  if (code === '') return changed === 0 ? '' : serverMessage('files_replaced', { count: changed });
  return reasons[code] ?? 'It could not be reinstalled.';
}

/** @param outside number of must-use plugins and drop-ins, which are no items of the job */
export function reinstallSummary(items: readonly StoredItem[], outside: number): ServerText[] {
  const of = (state: StoredItem['state']) => items.filter((item) => item.state === state).length;
  const lines: ServerText[] = [];
  if (of('done') > 0) lines.push(serverMessage('plugins_clean', { count: of('done') }));
  if (of('unchecked') > 0) lines.push(serverMessage('plugins_unchecked', { count: of('unchecked') }));
  if (of('failed') > 0) lines.push(serverMessage('plugins_failed', { count: of('failed') }));
  if (of('skipped') > 0) lines.push(serverMessage('plugins_skipped', { count: of('skipped') }));
  const removed = items.reduce((sum, item) => sum + item.files.length, 0);
  if (removed > 0) {
    lines.push(serverMessage('files_removed', { count: removed }));
  }
  if (outside > 0) lines.push(serverMessage('plugins_outside', { count: outside }));
  return lines;
}

/** Setting name of the audit rows for starts and ends of jobs. */
const JOB_AUDIT = 'post_hack_job';

const STOPPED = 'It stopped.';

const titles: Readonly<Record<JobKind, string>> = {
  'reinstall-plugins': 'Reinstall all',
  'force-password-reset': 'Force password reset',
  'log-out-users': 'Log out all users',
};

/** Returns the audit row of a job that started or ended, which is also in the Activity Log. */
export function toJobAudit({ kind, state, summary, error }: StoredJob): AuditEntry {
  const outcome = state === 'done' ? summary : state === 'stopped' ? [STOPPED, error] : ['It has begun.'];
  return { name: JOB_AUDIT, before: null, after: { action: titles[kind], state, outcome: outcome.map(toJson) } };
}

const TEXT_MAX = 200;

function toJson(text: ServerText): JsonValue {
  return typeof text === 'string' ? plainText(text, TEXT_MAX) : (text as unknown as JsonValue);
}
