import { z } from 'zod';
import type { SiteConfig } from '../site.js';
import type { ConnectorClient } from './connector-client.js';
import { parseAnswer } from './connector-exchange.js';

const overviewAnswer = z.object({
  core_update: z.string().max(40).nullable(),
  plugin_updates: z.number().int(),
  theme_updates: z.number().int(),
  salts: z.enum(['set', 'in-database', 'default']),
  shows_errors: z.boolean(),
  can_edit_files: z.boolean(),
  administrators: z.array(z.object({ id: z.number().int(), login: z.string() })).max(200),
  default_role: z.string(),
  registration: z.boolean(),
  https: z.boolean(),
});
/** What WordPress says about itself for the Security Dashboard. */
export type WordPressOverview = z.output<typeof overviewAnswer>;

/** Asks the connector for it. Throws ConnectorError. */
export async function fetchOverview(
  client: Pick<ConnectorClient, 'send'>,
  site: SiteConfig,
): Promise<WordPressOverview> {
  return parseAnswer(overviewAnswer, 'overview', await client.send(site, 'overview', {}));
}
