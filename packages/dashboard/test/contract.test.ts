import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { activityEndpoints, weeklyReportEndpoints } from '@security-optimizer/contract/activity/endpoints';
import { alertEndpoints } from '@security-optimizer/contract/alerts/endpoints';
import { toggleRequestName as contractName, fetchOptions } from '@security-optimizer/contract/endpoints';
import { overviewEndpoints } from '@security-optimizer/contract/overview/endpoints';
import { pages } from '@security-optimizer/contract/pages';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it } from 'vitest';
import { activityOptions, FETCH_OPTIONS, securityOptions, toggleRequestName } from '../src/api/options.js';
import {
  ebookSource,
  factsSource,
  hardeningSource,
  notificationsSource,
  rateSource,
} from '../src/features/security-dashboard/overview.js';
import { bundledIcons } from '../src/ui/icon.js';

describe('the dashboard matches the contract, whose table of endpoints it does not load', () => {
  it('in the endpoint of the options', () => {
    expect(FETCH_OPTIONS).toBe(fetchOptions.name);
    expect(securityOptions.call.suffix).toBe(fetchOptions.suffix);
    expect(fetchOptions.request.safeParse(securityOptions.call.body).success).toBe(true);
  });

  it('in the endpoints of the Security Dashboard', () => {
    const parts = [notificationsSource, hardeningSource, ebookSource, rateSource, factsSource];
    const known = overviewEndpoints.map(({ name, suffix }) => `${name} ${suffix}`);
    expect(parts.map(({ name, suffix }) => `${name} ${suffix}`)).toEqual(known.slice(0, parts.length));
    expect(known.slice(parts.length)).toEqual(['update:consent /update-settings']);
  });

  it('in the names of the requests', () => {
    for (const { field } of siteSecurityToggles) expect(toggleRequestName(field)).toBe(contractName(field));
  });

  it('in the names and paths of the Activity Log’s endpoints', () => {
    const root = join(dirname(fileURLToPath(import.meta.url)), '../src');
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
      .map((name) => readFileSync(join(root, name), 'utf8'));
    const all = sources.join('\n');
    for (const { name, suffix } of [...activityEndpoints, ...weeklyReportEndpoints, ...alertEndpoints]) {
      const start = suffix.replace(/\{id\}$/, '').replace(/^\/block-(?:ip|user)\/$/, '/block-');
      expect(
        [`'${start}'`, `"${start}"`, `\`${start}`].some((written) => all.includes(written)),
        suffix,
      ).toBe(true);
      // Requests without notices are not tracked and have no name.
      const isQuiet = [
        'activityNews',
        'searchActivityFilter',
        'activityTraffic',
        'logLifetimePreview',
        'fetchAlerts',
      ].includes(name);
      const isOption = name.startsWith('update:');
      if (!isQuiet && !isOption) expect(all.includes(`'${name}'`), name).toBe(true);
    }
    expect(fetchOptions.request.safeParse(activityOptions.call.body).success).toBe(true);
  });

  it('in the icons: each one named in the catalogue or on a page is bundled', () => {
    const named = [...siteSecurityToggles, ...pages].map(({ icon }) => icon);
    expect(named.filter((icon) => !bundledIcons.has(icon))).toEqual([]);
  });
});
