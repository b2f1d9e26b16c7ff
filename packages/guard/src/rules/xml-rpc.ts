import { removeHeader } from '../http/headers.js';
import { FORBIDDEN, type Rule } from './rule.js';
import { compileTextPaths } from './text-paths.js';

/**
 * XML-RPC is one script, `xmlrpc.php`, in the WordPress folder; a multisite serves it below every site's path too.
 * A search for that word is no request for it. What has the shape of a plugin's signed request passes
 * (`signedXmlRpc` of the facts). Its address is announced by the header `X-Pingback` (WordPress: `WP::send_headers`); the links in pages are the
 * connector's part.
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
