import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Zip, ZipDeflate } from 'fflate';
import { startGuard, stopGuard } from './guard-process.js';
import type { Stack } from './stack.js';

/** A plugin as the directory offers it: files by their path below its folder. */
export interface OfferedPlugin {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
  /** Further checksums of its list, or replacements for those of its files. */
  readonly listed?: Readonly<Record<string, unknown>>;
  /** Further entries of its package: name in the zip, content, and whether it is a link. */
  readonly packed?: readonly (readonly [name: string, content: string, kind?: 'link'])[];
}

/** A local plugin directory with the API of the public one. */
export interface PluginDirectory {
  readonly url: string;
  /** `broken-off`: downloads end early. `changed`: the content does not match the checksums. `down`: 503. */
  fault: 'none' | 'broken-off' | 'changed' | 'down';
  /** Delay of a response, milliseconds. */
  delayMs: number;
  /** Checksums of WordPress's own files by path; null if unknown. */
  core: Readonly<Record<string, string>> | null;
  /** Requested paths. */
  readonly requested: string[];
  close(): Promise<void>;
}

export async function startPluginDirectory(plugins: readonly OfferedPlugin[]): Promise<PluginDirectory> {
  const requested: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://directory');
    requested.push(url.pathname);
    const respond = (status: number, body: string | Uint8Array): void => {
      setTimeout(() => {
        response.writeHead(status, { 'content-length': String(body.length) });
        if (directory.fault === 'broken-off' && typeof body !== 'string') {
          response.write(body.slice(0, body.length / 2), () => response.destroy());
        } else response.end(body);
      }, directory.delayMs);
    };
    if (directory.fault === 'down') return respond(503, '{}');
    if (url.pathname === '/core') return respond(200, JSON.stringify({ checksums: directory.core ?? false }));
    const slug = url.searchParams.get('request[slug]');
    const plugin = plugins.find((offered) =>
      slug === null ? url.pathname.includes(`/${offered.slug}`) : offered.slug === slug,
    );
    if (plugin === undefined) return respond(404, JSON.stringify({ error: 'Plugin not found.' }));
    if (slug !== null) return respond(200, JSON.stringify(information(plugin, directory.url)));
    if (url.pathname === `/plugin-checksums/${plugin.slug}/${plugin.version}.json`) {
      return respond(
        200,
        JSON.stringify({
          plugin: plugin.slug,
          version: plugin.version,
          files: { ...toChecksums(plugin.files), ...plugin.listed },
        }),
      );
    }
    if (url.pathname === `/plugin/${plugin.slug}.${plugin.version}.zip`) {
      return respond(200, toZip(plugin, directory.fault === 'changed'));
    }
    return respond(404, '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const directory: PluginDirectory = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: 'none',
    delayMs: 0,
    core: null,
    requested,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return directory;
}

/** Makes guard download plugins from there, which needs a restart. @returns a function that restores the setting */
export async function usePluginDirectory(stack: Stack, url: string): Promise<() => Promise<void>> {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  const directory = { api: url, downloads: url, checksums: url };
  const write = async (text: string) => {
    await stopGuard(stack);
    writeFileSync(file, text);
    await startGuard(stack);
  };
  await write(JSON.stringify({ ...JSON.parse(before), postHack: { directory, coreChecksums: `${url}/core` } }));
  return () => write(before);
}

function information({ slug, name, version }: OfferedPlugin, url: string) {
  return { slug, name, version, versions: { [version]: `${url}/plugin/${slug}.${version}.zip` } };
}

/** Checksums in the format of the public directory. */
export function toChecksums(files: OfferedPlugin['files']) {
  const digest = (kind: string, text: string) => createHash(kind).update(text).digest('hex');
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, { md5: digest('md5', text), sha256: digest('sha256', text) }]),
  );
}

function toZip({ slug, files, packed = [] }: OfferedPlugin, changed: boolean): Uint8Array {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  const own = Object.entries(files).map(([name, text]) => {
    return [`${slug}/${name}`, changed ? `${text}\n// not what was checked` : text] as const;
  });
  for (const [name, text, kind] of [...own, ...packed]) {
    const entry = new ZipDeflate(name);
    if (kind === 'link') Object.assign(entry, { os: 3, attrs: (0o120777 << 16) >>> 0 });
    zip.add(entry);
    entry.push(new TextEncoder().encode(text), true);
  }
  zip.end();
  return Buffer.concat(chunks);
}
