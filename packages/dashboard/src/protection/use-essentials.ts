import type { PageId } from '@security-optimizer/contract/pages';
import { useQuery } from '../data/use-query.js';
import { useQueryData } from '../data/use-query-data.js';
import {
  activityOptions,
  loginOptions,
  type OptionsSource,
  postHackSource,
  securityOptions,
} from '../options/options-source.js';
import { readFilled } from '../options/read-filled.js';
import { useServices } from '../services.js';
import { countLoginEssentials, countSecurityEssentials, type EssentialsCount } from './essentials.js';

/** All essentials of the product: six of Site Security, four of Login Security. */
export const ALL_ESSENTIALS = 10;

/** The options that a page fetches for itself. */
const OWN_OPTIONS: Partial<Record<PageId, readonly string[]>> = {
  SITE_SECURITY: securityOptions.key,
  LOGIN_SETTINGS: loginOptions.key,
  ACTIVITY_LOG: activityOptions.key,
  POST_HACK_ACTIONS: postHackSource.key,
};

const NO_OPTIONS = ['options'];

/**
 * The essentials of the whole site, or null while one of them is not known. The page that is open fetches its own
 * options; those of the others are asked for once the first are there, without a word when that fails.
 */
export function useEssentials(page: PageId): EssentialsCount | null {
  const { api } = useServices();
  const own = OWN_OPTIONS[page] ?? null;
  // Only listens: the page itself fetches them.
  const first = useQueryData<unknown>(own ?? NO_OPTIONS);

  function quietly<Options extends object>(source: OptionsSource<Options>) {
    return {
      queryKey: source.key,
      queryFn: async () => readFilled(source, (await api.call<unknown>(source.call)).data),
      enabled: own !== source.key && first !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    };
  }

  const { data: security } = useQuery(quietly(securityOptions));
  const { data: login } = useQuery(quietly(loginOptions));
  if (security === undefined || login === undefined) return null;
  const one = countSecurityEssentials(security);
  const two = countLoginEssentials(login);
  const total = one.total + two.total;
  return total === ALL_ESSENTIALS ? { on: one.on + two.on, total } : null;
}
