import type { VisitBatch } from '../activity/activity-store.js';
import type { Config, LiveChange } from '../config/config.js';
import type { RelayTarget } from '../gateway/relay.js';
import type { LanguageFor } from '../i18n/languages.js';
import { AddressSet, type PackedAddresses } from '../lib/address-set.js';
import type { LogLevel } from '../lib/logger.js';
import type { SocketAddress } from '../lib/socket-address.js';
import { type PackedTimedAddresses, TimedAddresses } from '../lib/timed-addresses.js';
import type { AttemptEntry } from '../login/lockout-rule.js';
import type { CheckOutcome } from '../login/password-check-queue.js';
import type { ViewFailure, ViewLogin } from '../login/remote-views.js';
import type { SnapshotInput } from '../rules/rule.js';
import type { SiteFacts, SiteId } from '../site.js';
import type { UpstreamFailure } from '../upstream/upstream-client.js';
import type { Signal } from '../wordpress/signature.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';

/** The input of a snapshot in a form that can be passed between processes. */
type PackedInput = Omit<SnapshotInput, 'blocked' | 'blockedUntil' | 'language'> & {
  readonly blocked: PackedAddresses;
  readonly blockedUntil: PackedTimedAddresses;
};

/** What a worker process needs of a site besides its configuration. */
export interface SiteReplica {
  readonly site: SiteId;
  readonly input: PackedInput;
  readonly facts: SiteFacts | null;
  /** How visits are recorded; see `VisitRules`. */
  readonly visits: { readonly recording: boolean; readonly anonymize: boolean; readonly ownCron: boolean };
}

/** Replicas of many sites. With thousands of sites most have the same input, which is sent once. */
export interface ReplicaList {
  readonly inputs: readonly PackedInput[];
  /** `input` is an index in `inputs`. */
  readonly sites: readonly (Omit<SiteReplica, 'input'> & { readonly input: number })[];
}

/** Lists replicas for another process. */
export function listReplicas(replicas: Iterable<SiteReplica>): ReplicaList {
  const inputs: PackedInput[] = [];
  const sites: ReplicaList['sites'][number][] = [];
  const known = new Map<string, number>();
  for (const { input, ...rest } of replicas) {
    const { blocked, blockedUntil, ...settings } = input;
    const isShared =
      blocked.v4.length + blocked.v4From.length + blocked.v6From.length + blockedUntil.singles.length === 0;
    const key = isShared && blockedUntil.ranges.length === 0 ? JSON.stringify([settings, rest.facts?.locale]) : null;
    let index = key === null ? undefined : known.get(key);
    if (index === undefined) {
      index = inputs.push(input) - 1;
      if (key !== null) known.set(key, index);
    }
    sites.push({ ...rest, input: index });
  }
  return { inputs, sites };
}

/** The replicas of a list. */
export function* readReplicas({ inputs, sites }: ReplicaList): Generator<SiteReplica> {
  for (const { input, ...rest } of sites) yield { ...rest, input: inputs[input] as PackedInput };
}

/** Packs the input of a site's snapshot. */
export function packInput({ blocked, blockedUntil, language, ...rest }: SnapshotInput): PackedInput {
  return { ...rest, blocked: blocked.pack(), blockedUntil: (blockedUntil ?? TimedAddresses.empty).pack() };
}

/** Unpacks it in another process. */
export function unpackInput({ input, facts }: SiteReplica, languages: LanguageFor): SnapshotInput {
  return {
    ...input,
    blocked: AddressSet.unpack(input.blocked),
    blockedUntil: TimedAddresses.unpack(input.blockedUntil),
    language: languages(facts?.locale ?? 'en_US'),
  };
}

/** From the primary process to a worker. */
export type ToWorker =
  | {
      readonly kind: 'start';
      readonly config: Config;
      readonly replicas: ReplicaList;
      /** Index of the worker, from 0 on, and the number of workers. */
      readonly index: number;
      readonly count: number;
      readonly relay: RelayTarget;
      /** Descriptor of a supervisor's socket in the primary process; null when the configured address is used. */
      readonly descriptor: number | null;
      readonly logLevel: LogLevel;
    }
  /** Changes that the worker confirms with `applied` and the same version. */
  | {
      readonly kind: 'change';
      readonly version: number;
      readonly configuration: LiveChange | null;
      readonly replicas: ReplicaList;
      readonly removed: readonly SiteId[];
    }
  | { readonly kind: 'log-level'; readonly level: LogLevel }
  /** The visits of a message with the same id were stored or counted as dropped. */
  | { readonly kind: 'visits-written'; readonly id: number }
  /** Stop accepting connections, complete running requests, and end. */
  | { readonly kind: 'close' };

/** Descriptor of the pipe for `FromForwarding` and `ToForwarding` in a worker. */
export const DESCRIPTOR = 4;

/** Counts for the metrics since the last message. */
export interface WorkerCounts {
  readonly requested: number;
  readonly refused: readonly (readonly [rule: string, count: number])[];
  /** Responses of WordPress: its status and the time since the head of the request, milliseconds. */
  readonly forwarded: readonly (readonly [status: number, ms: number])[];
  readonly failures: readonly UpstreamFailure[];
  readonly loginFailures: number;
}

/**
 * What happens to requests that a worker forwards itself. The messages of one turn of the event loop are sent together,
 * as JSON over a pipe of their own (`DESCRIPTOR`), since each message costs more than its content. Ids are numbers of the
 * worker.
 */
export type FromForwarding =
  /** A view is to be forwarded: it needs a permit of the site's pool, and may need one for a password check. */
  | readonly ['enter', id: number, site: SiteId, from: string, key: string]
  /** Another request needs a permit of the site's pool. */
  | readonly ['acquire', id: number, site: SiteId, from: string]
  /** The client has left before the answer. */
  | readonly ['cancel', id: number]
  /** See `UpstreamPool.recordLeft`, `UpstreamPool.recordResponse` and `UpstreamPool.endLoan`. */
  | readonly ['left' | 'responded' | 'released', id: number]
  /** The permit for a password check is no longer needed. */
  | readonly ['checked', id: number, outcome: CheckOutcome]
  | readonly ['failure', failure: ViewFailure]
  | readonly ['throttled', site: SiteId, user: number]
  | readonly ['success', site: SiteId, key: string, user: number]
  | readonly ['missing', site: SiteId, requestId: string, status: number | null]
  | readonly ['signed' | 'password-in-view', site: SiteId]
  | readonly ['signal', site: SiteId, signal: Signal, scheme: SiteOrigin['scheme'], host: string]
  | readonly ['guarded' | 'silent', site: SiteId]
  | readonly ['session', key: string, until: number]
  /** A connection of a client; its address is null for a trusted proxy. */
  | readonly ['opened' | 'closed', address: string | null]
  | readonly ['ask', id: number, question: Question];

/** Answers, also sent together. */
export type ToForwarding =
  /** The permit of the pool was granted or refused; `login` answers `enter`. */
  | readonly ['entered', id: number, isGranted: boolean, login: ViewLogin | null]
  | readonly ['session', key: string, until: number]
  /** A lock of Login Security; null when it was lifted. */
  | readonly ['lock', site: SiteId, key: string, entry: AttemptEntry | null]
  | readonly ['password-in-view', site: SiteId]
  /** All processes together have too many connections: of this address, or null for all clients. */
  | readonly ['shed', address: string | null]
  | readonly ['answer', id: number, value: unknown];

/** From a worker to the primary process. */
export type FromWorker =
  /** Its code is loaded; earlier messages to it would be lost. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'listening'; readonly address: SocketAddress }
  | { readonly kind: 'listen-failed'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'applied'; readonly version: number }
  | { readonly kind: 'counts'; readonly counts: WorkerCounts }
  /** Visits to be stored, and visitors whose host names may be looked up. */
  | {
      readonly kind: 'visits';
      readonly id: number;
      readonly batches: readonly VisitBatch[];
      readonly visitors: readonly Visitor[];
    };

/** A visitor whose visit is no repeat. */
export type Visitor = readonly [site: SiteId, address: string, agent: string | null];

/** A question that the primary process answers. */
export type Question =
  | { readonly name: 'setting-history'; readonly site: SiteId; readonly setting: string }
  | { readonly name: 'find-report'; readonly site: SiteId; readonly requestId: string }
  | { readonly name: 'when-stored'; readonly site: SiteId }
  | { readonly name: 'host-status'; readonly site: SiteId; readonly host: string };
