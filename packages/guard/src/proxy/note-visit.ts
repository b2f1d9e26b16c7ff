import type { IncomingMessage } from 'node:http';
import type { VisitSink } from '../activity/visit.js';
import type { Address } from '../lib/address.js';
import type { RoutedSite, SiteRouter } from './site-router.js';

export interface NoteDeps {
  readonly visits: VisitSink;
  readonly router: Pick<SiteRouter, 'only'>;
}

/** Whose request it was. */
export interface Asked {
  /** Null when no site has the host name, or the request could not be read. */
  readonly site: RoutedSite | null;
  readonly address: Address;
}

/**
 * Leaves a request for the Activity Log, once its answer is decided. What belongs to no site is noted for the only one,
 * if there is just one.
 *
 * @param status what the visitor got
 * @param rule name of the rule that refused it, or null
 */
export function noteVisit(
  deps: NoteDeps,
  { site, address }: Asked,
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  status: number,
  rule: string | null,
): void {
  const { config } = site ?? deps.router.only ?? NO_SITE;
  if (config === null) return;
  const agent = (): string | null => request.headers['user-agent'] ?? null;
  deps.visits.add(config.id, { address, target: request.url as string, status, rule, agent });
}

const NO_SITE = { config: null };

/**
 * A request that Node's parser refused. Of its target there is what stands in the piece that the parser choked on, if
 * that is a request line.
 *
 * @param status three digits and a text
 */
export function noteMalformed(deps: NoteDeps, address: Address, piece: Buffer | undefined, status: string): void {
  const site = deps.router.only;
  if (site === null) return;
  const line = piece?.toString('latin1', 0, LINE_BYTES) ?? '';
  const target = /^[A-Za-z]{1,20} (\S+)/.exec(line)?.[1] ?? NO_TARGET;
  const rule = `malformed:${status.slice(0, 3)}`;
  deps.visits.add(site.config.id, { address, target, status: Number.parseInt(status, 10), rule, agent: () => null });
}

/** As much of a malformed request as is looked at. */
const LINE_BYTES = 1024;
/** Stands for a target that could not be read. */
const NO_TARGET = '-';
