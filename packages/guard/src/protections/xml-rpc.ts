import { FORBIDDEN, type Protection } from './protection.js';
import { removeHeader } from './remove-header.js';

/**
 * XML-RPC is one script, `xmlrpc.php`, in the WordPress folder; a multisite serves it below every site's path too.
 * Its address is announced by the header `X-Pingback` (WordPress: `WP::send_headers`); the links in pages are the
 * connector's part.
 */
export const xmlRpc: Protection = {
  name: 'xml-rpc',
  onError: 'refuse',
  prepare({ options }) {
    if (options.disable_xml_rpc === 0) return null;
    return {
      check: ({ segments }) => (segments.includes('xmlrpc.php') ? FORBIDDEN : null),
      editHeaders: (_facts, headers) => removeHeader(headers, 'x-pingback'),
    };
  },
};
