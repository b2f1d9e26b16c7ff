import type { Job, JobItem } from '@security-optimizer/contract/post-hack';
import type { CheckupPart } from '../../src/pages/post-hack-actions/read-checkup.js';
import { sampleItem, sampleJob } from '../../test/sample-jobs.js';

const plugins: readonly JobItem[] = [
  sampleItem('Contact form', { state: 'done' }),
  sampleItem('Shop', { state: 'done', files: ['includes/cache.php', 'x.php'] }),
  sampleItem('Gallery', { state: 'failed', reason: 'The directory did not answer.' }),
  sampleItem('Members only', { state: 'skipped', reason: 'It is not in the directory' }),
  sampleItem('Newsletter', { state: 'running' }),
  sampleItem('Redirects'),
];

/** A reinstallation under way; each state that a plugin may have. */
export function job(change: Partial<Job> = {}): Job {
  return sampleJob({ done: 4, total: 6, items: [...plugins], ...change });
}

/** The same job at its end; each state of a plugin that is final. */
export function ended(change: Partial<Job> = {}): Job {
  return job({
    state: 'done',
    ended: 1_795_255_800,
    done: 6,
    items: plugins.slice(0, 4),
    summary: ['2 plugins were replaced by clean copies.', '1 plugin could not be reinstalled.'],
    ...change,
  });
}

export const checkup: readonly CheckupPart[] = [
  {
    part: 'core',
    title: 'Files of WordPress',
    error: '',
    findings: [
      {
        id: 'changed',
        level: 'problem',
        title: '7 files differ from those of WordPress 6.6.1',
        text: 'Reinstall WordPress to put clean ones in their place.',
        link: 'http://example.com/wp-admin/update-core.php',
        link_text: 'Open Updates',
        items: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `wp-includes/class-${name}.php`),
      },
    ],
  },
  {
    part: 'administrators',
    title: 'Administrators',
    error: '',
    findings: [
      {
        id: 'new',
        level: 'note',
        title: '1 administrator is new',
        text: '',
        link: '',
        link_text: '',
        items: ['editor-1'],
      },
    ],
  },
  {
    part: 'options',
    title: 'Settings',
    error: '',
    findings: [{ id: 'fine', level: 'fine', title: 'Nothing unusual', text: '', link: '', link_text: '', items: [] }],
  },
  { part: 'tasks', title: 'Scheduled tasks', error: 'WordPress did not answer in time.', findings: [] },
];
