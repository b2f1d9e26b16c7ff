import { toggleRequestName as contractName, fetchOptions } from '@security-optimizer/contract/endpoints';
import { pages } from '@security-optimizer/contract/pages';
import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import { describe, expect, it } from 'vitest';
import { bundledIcons } from '../src/icons/bundled-icons.js';
import { FETCH_OPTIONS, securityOptions } from '../src/options/options-source.js';
import { toggleRequestName } from '../src/pages/site-security/use-toggles.js';

describe('the dashboard keeps to the contract, whose table of endpoints it does not load', () => {
  it('in the call for the options', () => {
    expect(FETCH_OPTIONS).toBe(fetchOptions.name);
    expect(securityOptions.call.suffix).toBe(fetchOptions.suffix);
    expect(fetchOptions.request.safeParse(securityOptions.call.body).success).toBe(true);
  });

  it('in the names of the requests', () => {
    for (const { field } of siteSecurityToggles) expect(toggleRequestName(field)).toBe(contractName(field));
  });

  it('in the icons: each that the catalogue and the pages name is bundled', () => {
    const named = [...siteSecurityToggles, ...pages].map(({ icon }) => icon);
    expect(named.filter((icon) => !bundledIcons.has(icon))).toEqual([]);
  });
});
