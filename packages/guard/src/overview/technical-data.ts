import { createHash } from 'node:crypto';
import type { TechnicalDataField } from '@security-optimizer/contract/overview/technical-data';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { Rounds } from '../lib/rounds.js';
import { version } from '../lib/version.js';
import type { Essential } from '../settings/essentials.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { InstalledPlugins } from '../wordpress/connector-commands.js';
import type { HelloResponse } from '../wordpress/connector-responses.js';
import type { TechnicalDataSends } from './technical-data-store.js';

/** The technical data of a site: the fields of the contract's list and no others. */
export type TechnicalData = Readonly<Record<TechnicalDataField, unknown>>;

/**
 * Collects the technical data of a site.
 * @param server guard's process: operating system, processor type, Node.js version
 */
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
      // A plugin without a folder has the name of its file.
      folder: plugin.file.split('/', 1)[0] ?? plugin.file,
      version: plugin.version,
      // Must-use plugins and drop-ins are always active.
      active: plugin.kind !== 'plugin' || plugin.active || plugin.network_active,
    })),
    protections: Object.fromEntries(essentials.map(({ title, on }) => [title, on])),
  };
}

/** Returns an identifier that is the same in each report of a site, and reveals neither its URL nor its key. */
function toSiteIdentifier({ secret }: Pick<SiteConfig, 'secret'>): string {
  return createHash('sha256').update(`technical-data ${secret}`).digest('hex').slice(0, 32);
}

const TIMEOUT_MS = 20_000;

/**
 * Posts JSON to a URL of the provider. Redirects are not followed, since the consent covers this URL only.
 * @throws Error when the response is not a success
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

/** Interval between two reports of a consenting site. */
export const SEND_EVERY_MS = 7 * 24 * 3600_000;
/** Pause after a failure. */
export const RETRY_AFTER_MS = 3600_000;
const ROUND_EVERY_MS = 60_000;

export interface TechnicalDataSenderOptions {
  /** The sites, read at each round. */
  readonly sites: Iterable<SiteConfig>;
  /** Whether the owner has agreed. */
  readonly isAgreed: (site: SiteId) => boolean;
  readonly collect: (site: SiteConfig) => Promise<TechnicalData>;
  readonly send: (data: TechnicalData) => Promise<void>;
  readonly sends: TechnicalDataSends;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends the technical data of each consenting site to the provider: soon after the consent, then once a week. */
export function createTechnicalDataSender(options: TechnicalDataSenderOptions): Rounds {
  const { sites, sends, clock, logger } = options;
  /** When to try again, for sites whose sending failed. */
  const retries = new Map<SiteId, number>();
  const rounds = new Rounds(round, ROUND_EVERY_MS);

  async function sendDue(): Promise<void> {
    const agreed = [...sites].filter(({ id }) => options.isAgreed(id) && (retries.get(id) ?? 0) <= clock());
    if (agreed.length === 0) return;
    const lastSends = await sends.last();
    for (const site of agreed) {
      if (rounds.isStopped) return;
      if (clock() - (lastSends.get(site.id) ?? -SEND_EVERY_MS) >= SEND_EVERY_MS) await sendOne(site);
    }
  }

  async function sendOne(site: SiteConfig): Promise<void> {
    try {
      const data = await options.collect(site);
      // The owner may have withdrawn the consent in the meantime.
      if (!options.isAgreed(site.id)) return;
      await options.send(data);
      await sends.sent(site.id, clock());
      retries.delete(site.id);
      logger.info({ event: 'technical-data-sent', site: site.id }, 'Technical data were sent to the provider.');
    } catch (error) {
      if (!retries.has(site.id)) {
        logger.warn(
          { event: 'technical-data-send-failed', site: site.id, err: error },
          'Technical data were not sent.',
        );
      }
      retries.set(site.id, clock() + RETRY_AFTER_MS);
    }
  }

  async function round(): Promise<void> {
    try {
      await sendDue();
    } catch (error) {
      logger.warn({ event: 'technical-data-send-failed', err: error }, 'Technical data were not sent.');
    }
  }

  return rounds;
}
