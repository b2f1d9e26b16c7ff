import type { LoginOptions } from '@security-optimizer/contract/login';
import { ApiError } from '../lib/api-error.js';
import type { SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';

export interface ResetUserDeps {
  /** Forgets everything about the factor; null when the user had none. */
  readonly reset: (reset: { site: SiteId; user: number; actor: Actor }) => Promise<{ readonly login: string } | null>;
  readonly listEnrolled: (site: SiteId) => Promise<LoginOptions['reset_2fa']>;
}

/**
 * Takes a user's second factor away, so that a new one is set up at the next log-in.
 * @returns who has a factor still, and the text for the owner
 * @throws ApiError not_found for a user without a factor; ConnectorError, StorageError
 */
export async function resetUserSecondFactor(
  deps: ResetUserDeps,
  reset: { readonly site: SiteId; readonly user: number; readonly actor: Actor },
): Promise<{ readonly enrolled: LoginOptions['reset_2fa']; readonly message: string }> {
  // Asked first: the reset ends sessions, which a user without a factor must not lose.
  const before = await deps.listEnrolled(reset.site);
  const done = before.some(({ ID }) => ID === reset.user) ? await deps.reset(reset) : null;
  if (done === null) throw new ApiError('not_found', { message: 'This user has no second factor.' });
  return {
    enrolled: await deps.listEnrolled(reset.site),
    message: english.translate('{name} sets up a new second factor at the next log-in.', { name: done.login }),
  };
}
