import type {
  Checkup,
  CheckupFinding,
  CheckupResult,
  RemovedFile,
} from '@security-optimizer/contract/post-hack/checkup';
import { freshSettings } from './settings.js';

/** 21 November 2026, 13:05 UTC. */
const NOW = 1_795_266_300;
const DAY = 86_400;

export function sampleFinding(change: Partial<CheckupFinding> = {}): CheckupFinding {
  return {
    key: 'a',
    check: 'core',
    title: '3 files of WordPress were changed',
    text: 'Their content differs from the official one. Reinstalling WordPress replaces them.',
    fact: '',
    items: [],
    is_new: 0,
    link: '',
    link_text: '',
    plugin: '',
    remove: '',
    files: [],
    ...change,
  };
}

/** A checkup in which every check ran without findings. */
export function sampleResult(change: Partial<CheckupResult> = {}): CheckupResult {
  const ran = (check: CheckupResult['checks'][number]['check']) => ({ check, ran: 1 as const, title: '', text: '' });
  const checks = [ran('core'), ran('administrators'), ran('uploads'), ran('plugins')];
  return { at: NOW, checks, findings: [], kept: [], notes: [], ...change };
}

/** The checkups in guard: the latest one without findings, and four earlier ones. */
export function sampleCheckup(change: Partial<Checkup> = {}): Checkup {
  return {
    running: null,
    error: '',
    latest: sampleResult(),
    earlier: [7, 14, 21, 28].map((days) => ({
      at: NOW - days * DAY,
      findings: 0,
      missing: days === 21 ? ['core'] : [],
    })),
    more: 0,
    removed: [],
    weekly: { ...freshSettings('postHack'), day: 0, time: '04:00', emails: ['owner@example.com'] },
    ...change,
  };
}

/** Two findings, and core files that could not be compared: 3 of 4 checks ran. */
export function suspicious(change: Partial<CheckupResult> = {}): Checkup {
  const result = sampleResult();
  return sampleCheckup({
    latest: {
      ...result,
      checks: [
        {
          check: 'core',
          ran: 0,
          title: 'Core files could not be compared',
          text: 'wordpress.org did not answer, so nothing is known about them.',
        },
        ...result.checks.slice(1),
      ],
      findings: [
        sampleFinding({
          key: 'administrator:7:web-helper',
          check: 'administrators',
          title: 'New administrator: web-helper',
          text: 'Created by owner on 19 Nov, 03:12, from 203.0.113.88.',
          fact: 'Removing also ends 1 open session',
          is_new: 1,
          link: 'http://example.com/wp-admin/user-edit.php?user_id=7',
          link_text: 'Open the user',
          remove: 'administrator',
        }),
        sampleFinding({
          key: 'script:abc',
          check: 'uploads',
          title: 'A script in uploads',
          text: 'Changed on 19 Nov, 03:14. It can’t run there while system folders are locked, but it should not be there.',
          fact: 'A copy is kept for 30 days',
          items: ['/wp-content/uploads/2024/old/index.php'],
          remove: 'files',
          files: ['wp-content/uploads/2024/old/index.php'],
        }),
      ],
      notes: [
        {
          id: 'administrators',
          title: 'Check that you know every administrator',
          text: 'Delete or demote whoever should not be one.',
          items: ['owner (owner@example.com), since 12 Jan, last login 21 Nov'],
          link: 'http://example.com/wp-admin/users.php',
          link_text: 'Review administrators',
        },
      ],
      ...change,
    },
  });
}

/** A plugin whose files differ from its clean copy. */
export const changedPlugin = sampleFinding({
  key: 'plugin:form/form.php:1',
  check: 'plugins',
  title: 'Contact form: 7 files are not the original ones',
  text: 'Version 5.9.8 of the plugin directory has other files. The last change was on 19 Nov, 03:14.',
  fact: 'Settings and content stay',
  items: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `includes/class-${name}.php, changed on 19 Nov, 03:14`),
  plugin: 'form/form.php',
});

/** Files beside those of WordPress, which can be removed. */
export const unknownFiles = sampleFinding({
  key: 'unknown:1',
  title: '3 files are not part of WordPress',
  text: 'WordPress has no such files in its own folders.',
  fact: 'A copy is kept for 30 days',
  items: ['a', 'b', 'c'].map((name) => `wp-includes/${name}.php, changed on 19 Nov, 03:14`),
  link: 'http://example.com/wp-admin/update-core.php',
  link_text: 'Reinstall WordPress',
  remove: 'files',
  files: ['wp-includes/a.php', 'wp-includes/b.php', 'wp-includes/c.php'],
});

/** A file that was removed on 21 November at 12:05. */
export function removedFile(file: string, change: Partial<RemovedFile> = {}): RemovedFile {
  return { id: `copy-of-${file}`, file, at: NOW - 3600, by: 'owner', until: NOW - 3600 + 30 * DAY, ...change };
}
