import { statSync } from 'node:fs';
import { join } from 'node:path';

export type Target =
  | { readonly kind: 'php'; readonly script: string; readonly pathInfo: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'error'; readonly status: 400 | 403 };

/**
 * Finds what a request target means, as nginx does with WordPress's usual rules: existing files are sent as they are,
 * `*.php` runs with path-info, everything else goes to /index.php. The same rules as `php/router.php`.
 */
export function resolveTarget(root: string, target: string): Target {
  const [address = '', query = ''] = splitOnce(target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, ''), '?');
  const path = normalisePath(address);
  if (path === null) return { kind: 'error', status: 400 };
  const script = /^(.+?\.php)(\/.*)?$/s.exec(path);
  if (script?.[1] !== undefined && isKind(root, script[1], 'file')) {
    return { kind: 'php', script: script[1], pathInfo: script[2] ?? '' };
  }
  if (isKind(root, path, 'folder')) return resolveFolder(root, path, query);
  if (isKind(root, path, 'file')) return { kind: 'file', path };
  return { kind: 'php', script: '/index.php', pathInfo: '' };
}

/** The path decoded once, slashes merged, dot segments resolved; null when nginx would answer 400. */
function normalisePath(text: string): string | null {
  const [raw = ''] = splitOnce(text, '#');
  if (raw === '') return '/';
  if (/%(?![0-9a-f]{2})/i.test(raw)) return null;
  const path = decodeBytes(raw);
  if (!path.startsWith('/') || path.includes('\0')) return null;
  const kept: string[] = [];
  let last = '';
  for (const segment of path.split('/')) {
    last = segment;
    if (segment === '..') {
      if (kept.pop() === undefined) return null;
    } else if (segment !== '' && segment !== '.') {
      kept.push(segment);
    }
  }
  const folder = last === '' || last === '.' || last === '..';
  return `/${kept.join('/')}${folder && kept.length > 0 ? '/' : ''}`;
}

function resolveFolder(root: string, path: string, query: string): Target {
  if (!path.endsWith('/')) {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return { kind: 'redirect', location: `${encoded}/${query === '' ? '' : `?${query}`}` };
  }
  if (isKind(root, `${path}index.php`, 'file')) return { kind: 'php', script: `${path}index.php`, pathInfo: '' };
  if (isKind(root, `${path}index.html`, 'file')) return { kind: 'file', path: `${path}index.html` };
  return path === '/' ? { kind: 'php', script: '/index.php', pathInfo: '' } : { kind: 'error', status: 403 };
}

function isKind(root: string, path: string, kind: 'file' | 'folder'): boolean {
  try {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    // A slash at the end of a file's name is another name: `/readme.html/` is no file.
    if (kind === 'file') return stat?.isFile() === true && !path.endsWith('/');
    return stat?.isDirectory() === true;
  } catch {
    return false;
  }
}

function decodeBytes(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
