import { createHash } from 'node:crypto';
import type { TechnicalDataField } from '@security-optimizer/contract/overview/technical-data';
import { version } from '../lib/version.js';
import type { Essential } from '../settings/essentials.js';
import type { SiteConfig } from '../site.js';
import type { InstalledPlugins } from '../wordpress/connector-commands.js';
import type { HelloResponse } from '../wordpress/connector-responses.js';

/** The technical data of a site: the fields of the contract's list and no others. */
export type TechnicalData = Readonly<Record<TechnicalDataField, unknown>>;

/** @param server guard's process: operating system, processor type, Node.js version */
export function toTechnicalData(facts: {
  readonly site: Pick<SiteConfig, 'secret'>;
  readonly hello: Pick<HelloResponse, 'connector' | 'php' | 'wordpress' | 'locale' | 'multisite'>;
  readonly plugins: InstalledPlugins['plugins'];
  readonly essentials: readonly Essential[];
  readonly server: { readonly system: string; readonly processor: string; readonly node: string };
}): TechnicalData {
  const { hello, plugins, essentials, server } = facts;
  return {
    site: toSiteIdentifier(facts.site),
    security_optimizer: { guard: version, plugin: hello.connector },
    server,
    php: hello.php,
    wordpress: { version: hello.wordpress, language: hello.locale, network: hello.multisite },
    plugins: plugins.map((plugin) => ({
      // A plugin without a folder is named by its file.
      folder: plugin.file.split('/', 1)[0] ?? plugin.file,
      version: plugin.version,
      // Must-use plugins and drop-ins are never switched off.
      active: plugin.kind !== 'plugin' || plugin.active || plugin.network_active,
    })),
    protections: Object.fromEntries(essentials.map(({ title, on }) => [title, on])),
  };
}

/** The same for each report of a site, and of no use to find its address or its key. */
function toSiteIdentifier({ secret }: Pick<SiteConfig, 'secret'>): string {
  return createHash('sha256').update(`technical-data ${secret}`).digest('hex').slice(0, 32);
}

const TIMEOUT_MS = 20_000;

/**
 * Sends JSON to an address of the provider. Redirects are not followed: consent is for this address alone.
 * @throws Error when it was not accepted
 */
export async function postToProvider(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': `Security Optimizer/${version}` },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The provider answered HTTP ${response.status}.`);
}
