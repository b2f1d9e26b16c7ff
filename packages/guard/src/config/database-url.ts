import { isIPv4 } from 'node:net';
import { isAbsolute } from 'node:path';
import { toAuthority } from '../lib/address.js';

/** How the connection to PostgreSQL is encrypted; the names are those of libpq. */
export type SslMode = 'disable' | 'require' | 'verify-full';

/** A PostgreSQL database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** Null: the user of the process, as for `psql`. */
  readonly user: string | null;
  /** Null: from the file, else from the variable `PGPASSWORD`, if the server asks for one. */
  readonly password: string | null;
  /** A file with the password, relative to the data folder like the following ones; null where none is named. */
  readonly passwordFile: string | null;
  readonly database: string;
  readonly sslMode: SslMode;
  readonly rootCertificate: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

const EXAMPLE = 'postgres://USER@HOST:5432/DATABASE';
export const DATABASE_HELP = `use sqlite:FILE, for example sqlite:guard.sqlite, or ${EXAMPLE}`;

const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-full'];
const PARAMETERS = ['host', 'user', 'passwordfile', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Whether the text names a PostgreSQL database, valid or not. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url);
}

/**
 * Reads the address of a PostgreSQL database. A connection to another machine is encrypted, and the server's certificate
 * is verified, unless `sslmode` says otherwise.
 *
 * @returns the address, or what is allowed; the message never contains the password
 */
export function parsePostgresUrl(url: string): PostgresAddress | { readonly mistake: string } {
  const mistake = (text: string) => ({ mistake: text });
  let parsed: URL;
  try {
    // A URL without a host, `postgres:///database?host=/run/postgresql`, names the folder of a socket.
    parsed = new URL(url);
  } catch {
    return mistake(`use ${EXAMPLE}; write special characters of the password as in %40 for @`);
  }
  const { searchParams } = parsed;
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    return mistake(`the parameter ${unknown} is unknown; allowed are ${PARAMETERS.join(', ')}`);
  if (parsed.hash !== '') return mistake('write # in the password as %23');
  const database = decode(parsed.pathname.slice(1));
  const user = parsed.username === '' ? (searchParams.get('user') ?? '') : decode(parsed.username);
  const password = decode(parsed.password);
  const host = searchParams.get('host') ?? decode(parsed.hostname.replace(/^\[(.*)\]$/, '$1'));
  if (database === null || user === null || password === null || host === null) {
    return mistake('a % must be followed by two hexadecimal digits; write % itself as %25');
  }
  if (database === '' || database.includes('/')) return mistake(`name the database: ${EXAMPLE}`);
  if (host === '') return mistake(`name the server: ${EXAMPLE}, or ?host=/run/postgresql for its Unix socket`);
  if (host.includes('/') && !isAbsolute(host)) return mistake('host: use an absolute path for the folder of a socket');
  const isLocal = isLocalServer(host);
  const mode = searchParams.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const sslMode = SSL_MODES.find((name) => name === mode);
  if (sslMode === undefined) return mistake(`sslmode: use ${SSL_MODES.join(', ')}`);
  if (sslMode !== 'disable' && isAbsolute(host)) return mistake('sslmode: a Unix socket is not encrypted; use disable');
  const certificate = searchParams.get('sslcert');
  const key = searchParams.get('sslkey');
  if ((certificate === null) !== (key === null)) return mistake('use sslcert and sslkey together');
  return {
    ...{ host, port: parsed.port === '' ? 5432 : Number(parsed.port), database, sslMode },
    user: user === '' ? null : user,
    password: password === '' ? null : password,
    passwordFile: searchParams.get('passwordfile'),
    rootCertificate: searchParams.get('sslrootcert'),
    ...{ certificate, key },
  };
}

/** Names a database in messages: without the password. */
export function describeDatabase(url: string): string {
  if (!isPostgresUrl(url)) return url;
  const address = parsePostgresUrl(url);
  if ('mistake' in address) return 'postgres://…';
  const { host, port, database, user } = address;
  const name = encodeURIComponent(database);
  const by = user === null ? '' : encodeURIComponent(user);
  if (isAbsolute(host)) {
    // A URL with a port needs a host.
    return `postgres://${port === 5432 ? '' : `localhost:${port}`}/${name}?host=${host}${by && `&user=${by}`}`;
  }
  return `postgres://${by && `${by}@`}${toAuthority({ host, port })}/${name}`;
}

/** A valid URL without its password, for files that others may read. The file with the password stays named. */
export function withoutPassword(url: string): string {
  if (!isPostgresUrl(url)) return url;
  const parsed = new URL(url);
  parsed.password = '';
  return parsed.href;
}

/** Whether a valid URL itself holds the password. */
export function hasPassword(url: string): boolean {
  return isPostgresUrl(url) && new URL(url).password !== '';
}

/** The files that a URL names: password, certificates. Relative ones are relative to the data folder. */
export function listDatabaseFiles(url: string): readonly string[] {
  const address = isPostgresUrl(url) ? parsePostgresUrl(url) : null;
  if (address === null || 'mistake' in address) return [];
  const { passwordFile, rootCertificate, certificate, key } = address;
  return [passwordFile, rootCertificate, certificate, key].filter((file) => file !== null);
}

/** Whether a server is on this machine: a Unix socket or a loopback address, which needs no encryption. */
export function isLocalServer(host: string): boolean {
  return isAbsolute(host) || host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Null where a percent sign begins no valid sequence. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
