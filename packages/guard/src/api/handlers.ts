import type { ApiEndpoint, Endpoint } from '@security-optimizer/contract/endpoints';
import { toggleRequestName } from '@security-optimizer/contract/endpoints';
import {
  type SecurityField,
  type SecurityOptions,
  siteSecurityToggles,
} from '@security-optimizer/contract/protections';
import type { OptionsPage } from '@security-optimizer/contract/settings';
import type { z } from 'zod';
import type { SiteId } from '../site.js';
import type { OptionChange } from '../site-security/set-security-option.js';
import { type ActivityUseCases, createActivityHandlers } from './activity-handlers.js';
import type { CallContext, Outcome } from './call-context.js';
import { createLoginHandlers, type LoginUseCases } from './login-handlers.js';
import { createOverviewHandlers, type OverviewUseCases } from './overview-handlers.js';
import { createPostHackHandlers, type PostHackUseCases } from './post-hack-handlers.js';
import { createWeeklyReportHandlers, type WeeklyReportUseCases } from './weekly-report-handlers.js';

/** One handler for each of these calls, typed by their schemas. */
export type HandlersOf<Calls extends Endpoint> = {
  readonly [Call in Calls as Call['name']]: (
    input: z.output<Call['request']>,
    context: CallContext,
  ) => Promise<Outcome<z.output<Call['response']>>>;
};

/** One handler for each call of the contract. A call without a handler does not compile. */
export type Handlers = HandlersOf<ApiEndpoint>;

/** The use cases behind the calls. */
export interface UseCases
  extends LoginUseCases,
    ActivityUseCases,
    PostHackUseCases,
    OverviewUseCases,
    WeeklyReportUseCases {
  readonly fetchSecurityOptions: (site: SiteId) => Promise<SecurityOptions>;
  readonly setSecurityOption: (change: OptionChange) => Promise<string>;
}

/** Connects each call of the contract with the use case that carries it out. */
export function createHandlers(useCases: UseCases): Handlers {
  return {
    fetchOptions: async ({ page }, context) => ({ data: await optionsOf(useCases, page, context), message: '' }),
    ...toggleHandlers(useCases),
    ...createLoginHandlers(useCases),
    ...createActivityHandlers(useCases),
    ...createPostHackHandlers(useCases),
    ...createOverviewHandlers(useCases),
    ...createWeeklyReportHandlers(useCases),
  };
}

function optionsOf(useCases: UseCases, page: OptionsPage, { site, actor }: CallContext) {
  switch (page) {
    case 'security':
      return useCases.fetchSecurityOptions(site.id);
    case 'login':
      return useCases.fetchLoginOptions({ site, caller: actor.address });
    case 'activity':
      return useCases.fetchActivityOptions(site);
  }
}

type ToggleName = ReturnType<typeof toggleRequestName<SecurityField>>;

/** Every toggle of the catalogue has the same handler, so a new toggle needs no line here. */
function toggleHandlers(useCases: UseCases): Pick<Handlers, ToggleName> {
  const handlers = siteSecurityToggles.map(({ field }) => {
    const handle: Handlers[ToggleName] = async (input, { site, actor }) => {
      const value = input[field];
      if (value === undefined) throw new Error(`The contract lets ${field} be absent.`);
      const message = await useCases.setSecurityOption({ site, field, value, actor });
      return { data: { [field]: value }, message };
    };
    return [toggleRequestName(field), handle] as const;
  });
  return Object.fromEntries(handlers) as Pick<Handlers, ToggleName>;
}
