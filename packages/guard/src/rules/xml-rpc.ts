import { removeHeader } from '../http/headers.js';
import { FORBIDDEN, type Protection } from './protection.js';

/**
 * XML-RPC is one script, `xmlrpc.php`, in the WordPress folder; a multisite serves it below every site's path too.
 * What has the shape of a plugin's signed request passes (`signed-xml-rpc.ts`). Its address is announced by the header `X-Pingback` (WordPress: `WP::send_headers`); the links in pages are the
 * connector's part.
 */
export const xmlRpc: Protection = {
  name: 'xml-rpc',
  onError: 'refuse',
  compile({ options }) {
    if (options.disable_xml_rpc === 0) return null;
    return {
      check: ({ segments, signedXmlRpc }) =>
        segments.includes('xmlrpc.php') && signedXmlRpc === null ? FORBIDDEN : null,
      editResponseHeaders: (_facts, headers) => removeHeader(headers, 'x-pingback'),
    };
  },
};
