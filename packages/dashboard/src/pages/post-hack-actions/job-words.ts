import type { Job } from '@security-optimizer/contract/post-hack';
import { __, _n, sprintf } from '../../i18n/translate.js';

/** How far a running job is, for example "3 of 12 plugins done". @param number writes a number in the owner's language */
export function progressText(job: Job, number: (value: number) => string): string {
  if (job.total === 0) return __('Starting…', 'security-optimizer');
  const [done, total] = [number(job.done), number(job.total)];
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

/**
 * What a screen reader says of a job. It changes with each quarter and at the end, not with each step: whoever listens
 * would hear nothing else.
 */
export function announcement(job: Job, title: string): string {
  if (job.state === 'stopped') return `${title}: ${__('Stopped', 'security-optimizer')}. ${job.error}`;
  if (job.state === 'done') return `${title}: ${__('Done', 'security-optimizer')}. ${job.summary.join(' ')}`;
  const quarter = job.total === 0 ? 0 : Math.floor((job.done * 4) / job.total);
  if (quarter === 0) return `${title}: ${__('started', 'security-optimizer')}`;
  /* translators: %d: a number from 25 to 100 */
  return `${title}: ${sprintf(__('%d percent done', 'security-optimizer'), quarter * 25)}`;
}

/** Plugins of a job that did not get a clean copy though they should have. */
export function unfinished({ items }: Job): string[] {
  return items.filter(({ state }) => state !== 'done' && state !== 'skipped').map(({ id }) => id);
}
