import type { ServerText } from '@security-optimizer/contract/server-message';
import type { SiteId } from './site.js';

/** Who caused an event, and from which address; null when it is not known. */
interface Cause {
  readonly by: string | null;
  readonly address: string | null;
}

/** Fields of every event. */
interface Base {
  /** Equal for each report of the same event, so that it is handled once; up to 100 characters. */
  readonly uid: string;
  /** When it happened, milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * An event about a site's security of which an owner may want to be notified at once. Texts in it that come from
 * visitors or WordPress are not trusted: they are escaped where they are shown.
 */
export type SecurityEvent =
  | (Base & Cause & { readonly kind: 'new-administrator'; readonly login: string; readonly promoted: boolean })
  | (Base & {
      /** Any login of an administrator. The listener decides whether device and network are known. */
      readonly kind: 'administrator-login';
      readonly userId: number;
      readonly login: string;
      readonly address: string;
      /** The browser's User-Agent; empty when it sent none. */
      readonly agent: string;
    })
  | (Base & {
      readonly kind: 'lockout';
      /** An address, or the /64 of an IPv6 address. */
      readonly address: string;
      /** Number of failed logins that caused the lockout. */
      readonly failures: number;
    })
  | (Base & {
      readonly kind: 'checkup-finding';
      /** One sentence for each new finding. */
      readonly findings: readonly ServerText[];
      /** Number of completed checks, and of all checks. */
      readonly ran: number;
      readonly checks: number;
    })
  | (Base &
      Cause & {
        readonly kind: 'protection-off';
        /** Name of the setting for people, in English. */
        readonly protection: string;
        /**
         * Time until which all protections are paused, milliseconds since the Unix epoch; null when a protection stays
         * off.
         */
        readonly until: number | null;
      })
  | (Base &
      Cause & {
        /** Somebody gets fewer alerts than before, or none. */
        readonly kind: 'alerts-changed';
        /** An e-mail address, or a channel of the catalogue of alerts. */
        readonly recipient: string;
        /** `removed`: the address is no longer a recipient; `changed`: the channel has another target or secret. */
        readonly change: 'removed' | 'off' | 'fewer' | 'changed';
      })
  | (Base &
      Cause & {
        readonly kind: 'software-added';
        readonly software: 'plugin' | 'theme';
        readonly name: string;
        readonly action: 'installed' | 'activated';
      })
  | (Base & {
      readonly kind: 'vulnerability-found';
      readonly software: 'core' | 'plugin' | 'theme';
      readonly name: string;
      readonly version: string;
      /** The first version without the vulnerability; null when there is none yet. */
      readonly fixedIn: string | null;
    })
  | (Base & {
      readonly kind: 'trouble';
      /** What does not work, as a sentence; empty when guard itself did not run. */
      readonly text: ServerText;
      /** When guard ran again, milliseconds since the Unix epoch; absent for other faults. */
      readonly until?: number;
    });

/** Stores or handles events, oldest first. May throw StorageError; then the events are reported again, or lost. */
export type SecurityEventListener = (site: SiteId, events: readonly SecurityEvent[]) => Promise<void>;

/** Passes events from the features that report them to the features that inform the owner. */
export interface SecurityEvents {
  /**
   * Resolves once every listener has handled the events, so that a feature with an outbox can acknowledge them
   * afterwards. A batch is reported at once, since each report may wait for the disk.
   *
   * @param events oldest first
   * @throws StorageError
   */
  report(site: SiteId, events: readonly SecurityEvent[]): Promise<void>;
  subscribe(listener: SecurityEventListener): void;
}

export function createSecurityEvents(): SecurityEvents {
  const listeners: SecurityEventListener[] = [];
  return {
    async report(site, events) {
      if (events.length === 0) return;
      await Promise.all(listeners.map((listener) => listener(site, events)));
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
