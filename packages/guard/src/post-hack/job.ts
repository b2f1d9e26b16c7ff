import type { JobItem, JobKind } from '@security-optimizer/contract/post-hack';
import type { SiteId } from '../site.js';
import type { Actor, JsonValue } from '../storage/settings-store.js';

/** Long work under way, or how it ended. Plain data; a step makes a new one. Times are milliseconds. */
export interface StoredJob {
  readonly id: string;
  readonly site: SiteId;
  readonly kind: JobKind;
  readonly state: 'running' | 'done' | 'stopped';
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly actor: Actor;
  /** Where it stands; each kind has its own form. */
  readonly cursor: JsonValue;
  readonly items: readonly JobItem[];
  readonly done: number;
  readonly total: number;
  readonly summary: readonly string[];
  readonly error: string;
}

/** Where jobs are kept. Every method may throw StorageError. */
export interface JobStore {
  /** Stores a new one, or its next state. */
  save(job: StoredJob): Promise<void>;
  /** The latest of each kind. */
  latest(site: SiteId): Promise<readonly StoredJob[]>;
  /** Every one that runs, of all sites. */
  running(): Promise<readonly StoredJob[]>;
}
