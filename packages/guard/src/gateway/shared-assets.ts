import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import type { RawHeaders } from '../http/headers.js';
import type { SharedAsset } from '../sites/shared-assets.js';
import type { Allowed } from './evaluate.js';

/**
 * The dashboard's files for sites that share a connector. They are outside the web root, so guard serves them instead
 * of the web server, at the same address as in a site with its own copy.
 */
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const NAME = /^(?:icons\/)?[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Name of the requested dashboard file, relative to the folder of assets; null for any other request. Rules see paths
 * in lower case; file names keep their case.
 */
export function toAssetName({ facts, target }: Pick<Allowed, 'facts' | 'target'>): string | null {
  if (facts.method !== 'GET' && facts.method !== 'HEAD') return null;
  const at = facts.segments.lastIndexOf('assets');
  if (at < 1 || facts.segments[at - 1] !== 'security-optimizer') return null;
  const path = target.split('?', 1)[0] as string;
  const name = path.slice(path.lastIndexOf('/assets/') + '/assets/'.length);
  // Other spellings than those of the pages are forwarded to the web server.
  if (name.toLowerCase() !== facts.segments.slice(at + 1).join('/')) return null;
  return NAME.test(name) && extname(name) in TYPES ? name : null;
}

/**
 * Sends a file.
 * @param name as returned by `toAssetName`
 * @param editHeaders applies the headers of the rules
 */
export function sendAsset(
  name: string,
  asset: SharedAsset,
  request: IncomingMessage,
  response: ServerResponse,
  editHeaders: (headers: RawHeaders) => void,
): void {
  const headers: string[] = [
    ...['Content-Type', TYPES[extname(name)] as string, 'ETag', asset.etag, 'Vary', 'Accept-Encoding'],
    ...['Cache-Control', 'public, max-age=86400'],
  ];
  const isCurrent = request.headers['if-none-match']?.includes(asset.etag) === true;
  const isZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const body = isZipped ? asset.gzipped : asset.bytes;
  if (isZipped) headers.push('Content-Encoding', 'gzip');
  if (!isCurrent) headers.push('Content-Length', String(body.length));
  editHeaders(headers);
  response.writeHead(isCurrent ? 304 : 200, headers);
  response.end(isCurrent || request.method === 'HEAD' ? undefined : body);
}
