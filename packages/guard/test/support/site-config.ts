import type { SiteConfig } from '../../src/site.js';

/** The key that guard and the fake connector share. */
export const SECRET = '0f'.repeat(32);

/** A site as in the configuration. Nothing responds at its `upstream` unless a test sets it. */
export function siteConfig(change: Partial<SiteConfig> = {}): SiteConfig {
  return {
    id: 'site',
    hosts: ['*'],
    upstream: 'http://127.0.0.1:1',
    wordpressDir: null,
    secret: SECRET,
    requireGuard: true,
    ...change,
  };
}
