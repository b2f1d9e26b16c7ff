import type { siteSecurityEndpoints as calls } from '@security-optimizer/contract/settings/endpoints';
import type { CallHandlers, OptionPages } from '../feature.js';
import type { Services } from '../services.js';
import { changeSimpleSetting } from '../settings/change-settings.js';
import { readSiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';

export type SiteSecurityCalls = (typeof calls)[number];

/**
 * The endpoints of the page Site Security, except those of its toggles, which the catalogue of simple settings defines.
 */
export function siteSecurityEndpoints({ change, sites }: Pick<Services, 'change' | 'sites'>): {
  readonly handlers: CallHandlers<SiteSecurityCalls>;
  readonly pages: Pick<OptionPages, 'security'>;
} {
  /** The setting below "Disable XML-RPC", and the active plugins that send signed XML-RPC requests. */
  async function signedXmlRpc(site: SiteId) {
    const { siteSecurity } = await readSiteSettings(change.settings, site);
    const plugins = (sites.get(site).facts?.signedXmlRpc ?? []).map(({ id, name }) => ({ id, name }));
    return { signed_xml_rpc: siteSecurity.signed_xml_rpc, plugins };
  }
  return {
    pages: { security: async ({ site }) => (await readSiteSettings(change.settings, site.id)).options },
    handlers: {
      fetchSignedXmlRpc: async (_input, { site }) => ({ data: await signedXmlRpc(site.id), message: '' }),
      async 'update:signed_xml_rpc'({ signed_xml_rpc: value }, { site, actor }) {
        const message = await changeSimpleSetting(change, { site, actor }, 'signed_xml_rpc', value);
        return { data: await signedXmlRpc(site.id), message };
      },
    },
  };
}
