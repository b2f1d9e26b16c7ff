import { get as httpGet } from 'node:http';

/** A request target and its expected response from each web server of the sandbox. */
export interface AddressCase {
  readonly target: string;
  readonly status: number;
  readonly type?: string;
  readonly contains?: string;
}

/** The rules of nginx with the usual configuration for WordPress. Spellings of attackers must reach PHP as there. */
export const addressCases: readonly AddressCase[] = [
  { target: '/', status: 200, type: 'text/html', contains: 'Example site' },
  { target: '/wp-login.php', status: 200, type: 'text/html', contains: 'user_login' },
  { target: '/wp-login.php/x', status: 200, contains: 'user_login' },
  { target: '/%77p-login.php', status: 200, contains: 'user_login' },
  { target: '//wp-login.php', status: 200, contains: 'user_login' },
  { target: '/wp-admin/../wp-login.php', status: 200, contains: 'user_login' },
  { target: '//xmlrpc.php', status: 405, contains: 'XML-RPC server accepts POST requests only' },
  { target: '/%78mlrpc.php', status: 405, contains: 'XML-RPC server accepts POST requests only' },
  { target: '/sample-page/', status: 200, contains: 'Sample Page' },
  // A redirect to the page's address shows that path-info reached WordPress.
  { target: '/index.php/sample-page/', status: 301 },
  { target: '/?rest_route=/wp/v2/types', status: 200, type: 'application/json', contains: '"post"' },
  { target: '/wp-json/wp/v2/types', status: 200, type: 'application/json', contains: '"post"' },
  { target: '/missing/', status: 404, contains: 'Page not found' },
  { target: '/wp-admin', status: 301 },
  { target: '/wp-includes/', status: 403 },
  { target: '/../etc/passwd', status: 400 },
  { target: '/wp-includes/css/buttons.min.css', status: 200, type: 'text/css' },
  { target: '/wp-includes//css/%62uttons.min.css?ver=1', status: 200, type: 'text/css' },
  { target: '/wp-includes/js/wp-util.min.js', status: 200, type: 'application/javascript' },
  { target: '/wp-admin/images/wordpress-logo.svg', status: 200, type: 'image/svg+xml' },
  { target: '/readme.html', status: 200, type: 'text/html', contains: 'WordPress' },
  { target: '/license.txt', status: 200, type: 'text/plain', contains: 'General Public License' },
];

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Sends a GET request with the target unchanged; fetch() and URL would normalise it. */
export function get(origin: string, target: string, headers: Record<string, string> = {}): Promise<Response> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const request = httpGet({ hostname, port, path: target, headers, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() });
    });
    request.once('error', reject);
  });
}
