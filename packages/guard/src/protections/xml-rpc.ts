import { FORBIDDEN, type Protection, type RawHeaders } from './protection.js';

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

/** Removes every header of that lower-case name. */
export function removeHeader(headers: RawHeaders, name: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    const header = headers[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) headers.splice(i, 2);
  }
}
