import type { PageId } from '@security-optimizer/contract/pages';
import { useQuery } from '@tanstack/react-query';
import { activityOptions, loginOptions, type OptionsSource, securityOptions } from '../options/options-source.js';
import { readFilled } from '../options/use-options.js';
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
  const own = OWN_OPTIONS[page] ?? null;
  const security = useQuietOptions(securityOptions, own);
  const login = useQuietOptions(loginOptions, own);
  if (security === undefined || login === undefined) return null;
  const first = countSecurityEssentials(security);
  const second = countLoginEssentials(login);
  const total = first.total + second.total;
  return total === ALL_ESSENTIALS ? { on: first.on + second.on, total } : null;
}

function useQuietOptions<Options extends object>(
  source: OptionsSource<Options>,
  own: readonly string[] | null,
): Options | undefined {
  const { api } = useServices();
  const first = useQuery({ queryKey: own ?? source.key, enabled: false });
  const { data } = useQuery<Options>({
    queryKey: source.key,
    queryFn: async () => readFilled(source, (await api.call<unknown>(source.call)).data),
    enabled: own !== null && own !== source.key && first.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}
