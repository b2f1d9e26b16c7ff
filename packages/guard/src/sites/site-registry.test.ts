import { expect, it, onTestFinished } from 'vitest';
import { LiveSnapshots } from '../rules/snapshot.js';
import { defaultSiteSettings } from '../settings/site-settings.js';
import { SiteRegistry } from './site-registry.js';

it('defaults count as the settings of a site only once they were read', () => {
  const sites = new SiteRegistry(
    new LiveSnapshots(),
    () => '',
    () => 0,
  );
  onTestFinished(() => sites.stop());
  expect(sites.hasSettings('a')).toBe(false);
  // Facts and blocks are known without the settings.
  sites.set('a', { facts: null });
  expect(sites.hasSettings('a')).toBe(false);
  sites.set('a', { settings: defaultSiteSettings });
  sites.set('a', { blockedUsers: new Set([1]) });
  expect(sites.hasSettings('a')).toBe(true);
  sites.delete('a');
  expect(sites.hasSettings('a')).toBe(false);
});
