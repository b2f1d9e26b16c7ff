import { get } from 'node:http';

/** What a request target must lead to, under every web server that the sandbox has. */
export interface AddressCase {
  readonly target: string;
  readonly status: number;
  readonly type?: string;
  readonly holds?: string;
}

/** The rules of nginx with WordPress's usual configuration; attackers' spellings must reach PHP as they do there. */
export const addressCases: readonly AddressCase[] = [
  { target: '/', status: 200, type: 'text/html', holds: 'Example site' },
  { target: '/wp-login.php', status: 200, type: 'text/html', holds: 'user_login' },
  { target: '/wp-login.php/x', status: 200, holds: 'user_login' },
  { target: '/%77p-login.php', status: 200, holds: 'user_login' },
  { target: '//wp-login.php', status: 200, holds: 'user_login' },
  { target: '/wp-admin/../wp-login.php', status: 200, holds: 'user_login' },
  { target: '//xmlrpc.php', status: 405, holds: 'XML-RPC server accepts POST requests only' },
  { target: '/%78mlrpc.php', status: 405, holds: 'XML-RPC server accepts POST requests only' },
  { target: '/sample-page/', status: 200, holds: 'Sample Page' },
  // Path-info reached WordPress when it redirects to the page's own address.
  { target: '/index.php/sample-page/', status: 301 },
  { target: '/?rest_route=/wp/v2/types', status: 200, type: 'application/json', holds: '"post"' },
  { target: '/wp-json/wp/v2/types', status: 200, type: 'application/json', holds: '"post"' },
  { target: '/missing/', status: 404, holds: 'Page not found' },
  { target: '/wp-admin', status: 301 },
  { target: '/wp-includes/', status: 403 },
  { target: '/../etc/passwd', status: 400 },
  { target: '/wp-includes/css/buttons.min.css', status: 200, type: 'text/css' },
  { target: '/wp-includes//css/%62uttons.min.css?ver=1', status: 200, type: 'text/css' },
  { target: '/wp-includes/js/wp-util.min.js', status: 200, type: 'application/javascript' },
  { target: '/wp-admin/images/wordpress-logo.svg', status: 200, type: 'image/svg+xml' },
  { target: '/readme.html', status: 200, type: 'text/html', holds: 'WordPress' },
  { target: '/license.txt', status: 200, type: 'text/plain', holds: 'General Public License' },
];

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Sends a target as it stands, which fetch() and URL would tidy up first. */
export function ask(origin: string, target: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const request = get({ hostname, port, path: target, headers, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() });
    });
    request.once('error', reject);
  });
}
