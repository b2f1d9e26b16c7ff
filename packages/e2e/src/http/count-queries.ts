import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../stacks/stack.js';
import { muPlugins, withoutConnector } from '../stacks/wordpress.js';
import { sendRequest, sendUpstream, type TypedRequest } from './request.js';

/**
 * Loads first, and adds a comment to each page with the queries that WordPress made for it.
 *
 * @param prepare PHP that runs before everything else
 */
const plugin = (prepare: string) => `<?php
define( 'SAVEQUERIES', true );
( function () { ${prepare} } )();
remove_action( 'init', 'wp_cron' );
add_action( 'shutdown', function () {
  global $wpdb;
  printf( '<!-- queries %s -->', base64_encode( wp_json_encode( array( $wpdb->num_queries, array_column( (array) $wpdb->queries, 0 ) ) ) ) );
}, PHP_INT_MAX );
`;

/** Queries of WordPress for a page: the number, and the texts if the database driver records them. */
export interface Queries {
  readonly count: number;
  readonly texts: readonly string[];
}

/**
 * Counts the queries of WordPress for a page, with the connector and without it. Each is the minimum of three visits,
 * since the first ones fill caches.
 *
 * @param visitSite sends a request through guard
 * @param prepare PHP that runs at the start of each visit, with the connector and without it
 */
export async function countQueries(
  stack: Stack,
  request: TypedRequest,
  visitSite: (request: TypedRequest) => ReturnType<typeof sendRequest> = (sent) => sendRequest(stack, sent),
  prepare = '',
): Promise<{ readonly withConnector: Queries; readonly without: Queries }> {
  const file = join(muPlugins(stack), '0-count-queries.php');
  writeFileSync(file, plugin(prepare));
  try {
    const withConnector = await fewest(() => visitSite(request));
    const host = new URL(stack.url).host;
    const direct = { ...request, headers: { host, ...request.headers } };
    const without = await withoutConnector(stack, () => fewest(() => sendUpstream(stack, direct)));
    return { withConnector, without };
  } finally {
    rmSync(file);
  }
}

async function fewest(visitOnce: () => Promise<{ readonly head: string; readonly body: string }>): Promise<Queries> {
  const seen: Queries[] = [];
  for (let n = 0; n < 3; n++) {
    const { head, body } = await visitOnce();
    const encoded = /<!-- queries ([0-9A-Za-z+/=]+) -->/.exec(body)?.[1];
    if (encoded === undefined) throw new Error(`The page does not tell its queries: ${head}`);
    const [count, texts] = JSON.parse(Buffer.from(encoded, 'base64').toString()) as [number, string[]];
    seen.push({ count, texts });
  }
  return seen.reduce((fewest, one) => (one.count < fewest.count ? one : fewest));
}
