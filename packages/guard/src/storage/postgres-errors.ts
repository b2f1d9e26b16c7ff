import { StorageError, type StorageFault } from './storage-error.js';

/**
 * Faults by the server's error code or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html), and by
 * the codes of Node.
 */
const faultByCode: Readonly<Record<string, StorageFault>> = {
  '08': 'unreachable',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  '25P03': 'timeout',
  '25P04': 'timeout',
  '57014': 'timeout',
  '55P03': 'timeout',
  '53300': 'too_many_connections',
  '53100': 'full',
  '25006': 'read_only',
  '40001': 'conflict',
  '40P01': 'conflict',
  '28': 'cannot_open',
  '3D000': 'cannot_open',
  '3F000': 'cannot_open',
  '42501': 'cannot_open',
  '58030': 'input_output',
  XX001: 'corrupt',
  XX002: 'corrupt',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  ECONNABORTED: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  ENOENT: 'unreachable',
  EPIPE: 'unreachable',
  EACCES: 'cannot_open',
};

/** Beginnings of messages of the client library and of guard, which have no codes. */
const faultByText: readonly (readonly [string, StorageFault])[] = [
  ['Query read timeout', 'timeout'],
  ['timeout exceeded when trying to connect', 'timeout'],
  ['Connection terminated', 'unreachable'],
  ['timeout expired', 'unreachable'],
  ['Client has encountered a connection error', 'unreachable'],
  ['Client was closed', 'unreachable'],
  ['The server does not support SSL', 'cannot_open'],
  ['the server asks for a password', 'cannot_open'],
  ['the password can’t be read', 'cannot_open'],
  ['There was an error establishing an SSL', 'unreachable'],
];

/** Maps an error of the client library, of the server or of Node's sockets to a fault. */
export function toPostgresFault(error: unknown): StorageFault {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const known = faultByCode[code] ?? (/^[0-9A-Z]{5}$/.test(code) ? faultByCode[code.slice(0, 2)] : undefined);
  if (known !== undefined) return known;
  // Codes of OpenSSL and of Node's checks of a certificate.
  if (/^(?:ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO)|CERT|SELF_SIGNED|ISSUER|VERIFY|CRL/.test(code)) return 'cannot_open';
  return faultByText.find(([text]) => message.startsWith(text))?.[1] ?? 'other';
}

/** A StorageError for any error of a statement or connection. @param server names it, without password */
export function toPostgresError(error: unknown, server: string): StorageError {
  if (error instanceof StorageError) return error;
  const { message, errors } = error as { message?: string; errors?: readonly Error[] };
  // Node tries all addresses of a name, and its error for all of them has no message.
  const text = message || errors?.map((each) => each.message).join('; ') || String(error);
  const cause = errors?.[0] ?? error;
  return new StorageError(toPostgresFault(cause), `${server}: ${text}`, { cause });
}

/** Whether the connection can't be used any longer after such an error. */
export function endsConnection(fault: StorageFault, error: unknown): boolean {
  // A server that refuses to write has become a standby: the next connection finds its successor.
  if (fault === 'unreachable' || fault === 'read_only') return true;
  return fault === 'timeout' && (error as { code?: string }).code === undefined;
}
