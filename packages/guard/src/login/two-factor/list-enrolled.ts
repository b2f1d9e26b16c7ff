import type { SiteId } from '../../site.js';
import type { SecondFactorStore } from '../../storage/second-factor-store.js';

/** Users whose second factor is set up, as `reset_2fa` of the API lists them, by login. Throws StorageError. */
export async function listEnrolled(
  store: Pick<SecondFactorStore, 'listEnabled'>,
  site: SiteId,
): Promise<{ ID: number; user_login: string }[]> {
  return (await store.listEnabled(site)).map(({ userId, login }) => ({ ID: userId, user_login: login }));
}
