import type { PageId } from '@security-optimizer/contract/pages';
import { useQuery, useQueryClient } from '../data/use-query.js';
import { activityOptions, loginOptions, type OptionsSource, securityOptions } from '../options/options-source.js';
import { readFilled } from '../options/read-filled.js';
import { useServices } from '../services.js';
import { countLoginEssentials, countSecurityEssentials, type EssentialsCount } from './essentials.js';

/** All essentials of the product: six of Site Security, four of Login Security. */
const ALL_ESSENTIALS = 10;

/** The options that a page fetches for itself. */
const OWN_OPTIONS: Partial<Record<PageId, readonly string[]>> = {
  SITE_SECURITY: securityOptions.key,
  LOGIN_SETTINGS: loginOptions.key,
  ACTIVITY_LOG: activityOptions.key,
};

/**
 * The essentials of the whole site, or null while one of them is not known. The page that is open fetches its own
 * options; those of the others are asked for once the first are there, without a word when that fails.
 */
export function useEssentials(page: PageId): EssentialsCount | null {
  const { api } = useServices();
  const client = useQueryClient();
  const own = OWN_OPTIONS[page] ?? null;

  /** Asked for once the page's own are there; never those that the page itself asks for. */
  function quietly<Options extends object>(source: OptionsSource<Options>) {
    return {
      queryKey: source.key,
      queryFn: async () => readFilled(source, (await api.call<unknown>(source.call)).data),
      enabled: own !== null && own !== source.key && client.getQueryData(own) !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    };
  }

  const { data: security } = useQuery(quietly(securityOptions));
  const { data: login } = useQuery(quietly(loginOptions));
  if (security === undefined || login === undefined) return null;
  const first = countSecurityEssentials(security);
  const second = countLoginEssentials(login);
  const total = first.total + second.total;
  return total === ALL_ESSENTIALS ? { on: first.on + second.on, total } : null;
}
