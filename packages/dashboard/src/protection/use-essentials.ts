import type { PageId } from '@security-optimizer/contract/pages';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { loginOptions, type OptionsSource, securityOptions } from '../options/options-source.js';
import { readFilled } from '../options/read-filled.js';
import { useServices } from '../services.js';
import { countLoginEssentials, countSecurityEssentials, type EssentialsCount } from './essentials.js';

/** All essentials of the product: six of Site Security, four of Login Security. */
const ALL_ESSENTIALS = 10;

/**
 * The essentials of the whole site, or null while one of them is not known. The page that is open fetches its own
 * options; those of the other page are asked for once the first are there, without a word when that fails.
 */
export function useEssentials(page: PageId): EssentialsCount | null {
  const { api } = useServices();
  const client = useQueryClient();

  /** @param first the options that have to be there before these are asked for; null when the page fetches them */
  function quietly<Options extends object>(source: OptionsSource<Options>, first: OptionsSource<object> | null) {
    return {
      queryKey: source.key,
      queryFn: async () => readFilled(source, (await api.call<unknown>(source.call)).data),
      enabled: first !== null && client.getQueryData(first.key) !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    };
  }

  const { data: security } = useQuery(quietly(securityOptions, page === 'LOGIN_SETTINGS' ? loginOptions : null));
  const { data: login } = useQuery(quietly(loginOptions, page === 'SITE_SECURITY' ? securityOptions : null));
  if (security === undefined || login === undefined) return null;
  const first = countSecurityEssentials(security);
  const second = countLoginEssentials(login);
  const total = first.total + second.total;
  return total === ALL_ESSENTIALS ? { on: first.on + second.on, total } : null;
}
