import { removeHeader } from '../http/headers.js';
import { FORBIDDEN, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

/**
 * XML-RPC is one script, `xmlrpc.php`, in the WordPress folder; a multisite also serves it below every site's path. A
 * search for that word is not a request for the script. A request in the form of a plugin's signed request is allowed
 * (`signedXmlRpc` of the facts). The header `X-Pingback` announces the address (WordPress: `WP::send_headers`), so it
 * is removed; the connector removes the links in pages.
 */
export const xmlRpc: Rule = {
  name: 'xml-rpc',
  onError: 'refuse',
  compile({ options, paths, multisite = false }) {
    if (options.disable_xml_rpc === 0) return null;
    const isText = compileTextPaths(paths, multisite);
    return {
      check(facts) {
        if (!facts.segments.includes('xmlrpc.php') || facts.signedXmlRpc !== null) return null;
        return isText(facts) ? null : FORBIDDEN;
      },
      editResponseHeaders: (_facts, headers) => removeHeader(headers, 'x-pingback'),
    };
  },
};
