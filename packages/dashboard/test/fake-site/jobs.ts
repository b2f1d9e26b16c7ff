import type { Job, JobItem } from '@security-optimizer/contract/post-hack/endpoints';

/** A plugin that a running reinstallation has not reached yet. */
export function sampleItem(name: string, change: Partial<JobItem> = {}): JobItem {
  return { id: `${name}/${name}.php`, name, version: '1.4.2', state: 'waiting', reason: '', files: [], ...change };
}

/** A reinstallation of plugins that has just started. */
export function sampleJob(change: Partial<Job> = {}): Job {
  return {
    id: 'one',
    kind: 'reinstall-plugins',
    state: 'running',
    started: 1_795_255_200,
    ended: null,
    actor: 'owner',
    done: 0,
    total: 0,
    items: [],
    summary: [],
    error: '',
    ...change,
  };
}
