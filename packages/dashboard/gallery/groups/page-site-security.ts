import { refused } from '../../test/fake-site/replies.js';
import type { SiteState } from '../../test/fake-site/responses.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import { allSet } from './samples.js';

const XML_RPC = 'Disable XML-RPC';
const ROW = '[data-anchor="disable-xml-rpc"]';

function xmlRpcOff(site: SiteState): void {
  site.options.disable_xml_rpc = 0;
}

function one(state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return { id: `site-security-${state}`, title, page: 'SITE_SECURITY', site: xmlRpcOff, ...example };
}

export const siteSecurityPage: Group = {
  id: 'page-site-security',
  title: 'Page: Site Security',
  examples: [
    one('ready', 'as it is most of the time', { variants: ['phone', 'rtl'] }),
    one('all-on', 'all on', { site: allSet, area: '.so-head' }),
    one('loading', 'loading', {
      area: '.so-main',
      site: (site) => site.replies.set('/fetch-options', held),
      variants: ['phone'],
    }),
    one('not-loaded', 'not loaded', {
      area: '.so-main',
      site: (site) =>
        site.replies.set('/fetch-options', () => refused(503, 'wordpress_down', 'WordPress does not answer.')),
      variants: ['phone'],
    }),
    one('pending', 'a change on its way', {
      area: '.so-row.is-busy',
      site: (site) => {
        xmlRpcOff(site);
        site.replies.set('/disable-xml-rpc', held);
      },
      act: (user) => user.click('switch', XML_RPC),
    }),
    one('failed', 'a change that failed', {
      area: ROW,
      site: (site) => {
        xmlRpcOff(site);
        site.replies.set('/disable-xml-rpc', () =>
          refused(500, 'internal', 'An error occurred. Please try again later'),
        );
      },
      act: (user) => user.click('switch', XML_RPC),
      variants: ['phone'],
    }),
    one('saved', 'a change that was saved', { area: '.so-toasts', act: (user) => user.click('switch', XML_RPC) }),
    one('signed-xml-rpc', 'XML-RPC off, with a plugin that signs its requests', {
      area: ROW,
      site: (site) => {
        site.signedXmlRpc.plugins = [{ id: 'jetpack', name: 'Jetpack' }];
      },
      variants: ['phone', 'german'],
    }),
    one('linked', 'a link led to a row', { area: ROW, hash: 'disable-xml-rpc' }),
  ],
};
