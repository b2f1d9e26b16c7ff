import type { JobItem } from '@security-optimizer/contract/post-hack';
import { english } from '../texts/language.js';
import type { SaltsOutcome } from '../wordpress/post-hack-commands.js';

/** Why a plugin was not reinstalled, by the connector's codes. */
const reasons: Readonly<Record<string, string>> = {
  'must-use': 'Must-use plugins don’t come from the plugin directory.',
  'drop-in': 'Drop-ins don’t come from the plugin directory.',
  not_free: 'Not a free plugin of the plugin directory.',
  own_updates: 'It gets its updates from somewhere else than the plugin directory.',
  another_plugin: 'The plugin directory has another plugin of the same name.',
  no_version: 'Its version can’t be read.',
  version_gone: 'The plugin directory no longer offers this version. Update the plugin instead.',
  linked: 'Its folder is a link to another place.',
  gone: 'It is no longer installed.',
  directory_unreachable: 'The plugin directory does not answer.',
  no_checksums: 'The plugin directory has no checksums for this version, so a copy can’t be checked.',
  download_failed: 'The download failed. The old copy is still in place.',
  checksum_differs: 'The download was damaged or changed. The old copy is still in place.',
  disk_full: 'The disk is full. The old copy is still in place.',
  not_writable: 'WordPress may not change its folder. The old copy is still in place.',
  not_stored: 'WordPress could not note what it was about to do. The old copy is still in place.',
  swap_failed: 'The clean copy could not be put in place. The old copy is back.',
  not_put_back: 'The plugin’s folder could not be put back. Try again, or install the plugin by hand.',
};

/** @param changed files of the old copy that differed from the clean one */
export function reinstallReason(code: string, changed = 0): string {
  if (code === '')
    return changed === 0
      ? ''
      : english.counted('{count} changed file was replaced.', '{count} changed files were replaced.', changed);
  return reasons[code] ?? 'It could not be reinstalled.';
}

export function reinstallSummary(items: readonly JobItem[]): string[] {
  const of = (state: JobItem['state']) => items.filter((item) => item.state === state).length;
  const lines = [english.counted('{count} plugin has a clean copy.', '{count} plugins have a clean copy.', of('done'))];
  if (of('failed') > 0) lines.push(english.counted('{count} plugin failed.', '{count} plugins failed.', of('failed')));
  if (of('skipped') > 0)
    lines.push(english.counted('{count} plugin was skipped.', '{count} plugins were skipped.', of('skipped')));
  const removed = items.reduce((sum, item) => sum + item.files.length, 0);
  if (removed > 0) {
    lines.push(
      english.counted(
        '{count} file that is not part of its plugin was removed.',
        '{count} files that are not part of their plugins were removed.',
        removed,
      ),
    );
  }
  return lines;
}

/** What happened to WordPress's salts, in a sentence. */
export function saltsSentence(salts: SaltsOutcome): string {
  switch (salts) {
    case 'replaced':
      return 'WordPress has new security keys, so every cookie made before is void.';
    case 'kept':
      return 'The security keys of WordPress stay, since new ones would end your session too.';
    case 'not_writable':
      return 'The security keys of WordPress stay, since wp-config.php can’t be written. Ask your hosting provider to replace them.';
    case 'not_plain':
      return 'The security keys of WordPress stay, since they are not plain text in wp-config.php. Replace them where they come from.';
  }
}
