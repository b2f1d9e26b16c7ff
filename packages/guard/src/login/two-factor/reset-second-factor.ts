import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { SiteId } from '../../site.js';
import type { SecondFactorStore } from '../../storage/second-factor-store.js';
import type { Actor } from '../../storage/settings-store.js';

export interface ResetDeps {
  readonly store: Pick<SecondFactorStore, 'read' | 'remove'>;
  /** Ends the user's sessions in WordPress; a failure stops the reset, so that nothing is half done. */
  readonly endSessions: (site: SiteId, user: number) => Promise<void>;
  /** Forgets the user’s trusted devices in this process at once; absent where nothing serves requests. */
  readonly forgetDevices?: (site: SiteId, user: number) => void;
  /** Tells the other processes, which forget the user's trusted devices. */
  readonly publish: (change: { site: SiteId; version: number }) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Takes a user's second factor away: secret, back-up codes, trusted devices, log-ins under way and pauses, and ends
 * the user's sessions. At the next log-in the user sets it up again. Safe to repeat.
 *
 * @returns the user's login, or null when the user had no factor
 * @throws what `endSessions` throws, then nothing was reset; StorageError
 */
export async function resetSecondFactor(
  deps: ResetDeps,
  reset: { readonly site: SiteId; readonly user: number; readonly actor: Actor },
): Promise<{ readonly login: string } | null> {
  const { site, user, actor } = reset;
  // Who has no factor keeps the sessions.
  if ((await deps.store.read({ site, userId: user })) === null) return null;
  await deps.endSessions(site, user);
  const removed = await deps.store.remove({ site, userId: user }, { actor, at: deps.clock() });
  if (removed === null) return null;
  deps.forgetDevices?.(site, user);
  deps.publish({ site, version: removed.version });
  deps.logger.info(
    { event: 'second-factor-reset', site, user, login: removed.login, by: actor.login },
    'A second factor was reset.',
  );
  return { login: removed.login };
}
