import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import * as tls from 'node:tls';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Address } from '../lib/address.js';
import { plainText } from '../lib/plain-text.js';
import { type Resolve, type TargetPolicy, TargetRefused } from './safe-target.js';

/** What webhook, Slack and system log have in common: the connection, its errors, and the moment before the first byte. */

/** The outcome of a delivery. `answer` is a text for the owner. */
export interface DeliveryOutcome {
  readonly ok: boolean;
  readonly answer: ServerText;
}

/** Limits of a delivery, milliseconds. */
export interface SendLimits {
  /** For the connection, including TLS, and for the system to accept a message of the system log. */
  readonly connectMs: number;
  /** For a webhook from DNS to the head of the response. */
  readonly exchangeMs: number;
  /** In which a log server that has closed before it read the message resets the connection, beside a round trip. */
  readonly resetMs: number;
  /** In which a log server closes the connection after guard's end. Many keep it open. */
  readonly closeMs: number;
}

/** `toReason` names the first two in its texts. */
const LIMITS: SendLimits = { connectMs: 10_000, exchangeMs: 30_000, resetMs: 100, closeMs: 3000 };

export interface SendDeps {
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  /**
   * Called once the connection stands, before the first byte of the alert is sent, at most once per delivery. Nothing is
   * sent before it resolves, and nothing at all if it rejects.
   */
  readonly onSend: () => Promise<void>;
  readonly limits?: Partial<SendLimits>;
}

/** The dependencies of one delivery, with all limits. */
export type Sending = SendDeps & { readonly limits: SendLimits };

/**
 * Runs a delivery and returns its outcome.
 * @throws only the error of `onSend`
 */
export async function runDelivery(
  deps: SendDeps,
  deliver: (sending: Sending) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  let refusal: { readonly error: unknown } | null = null;
  const onSend = async () => {
    try {
      await deps.onSend();
    } catch (error) {
      refusal = { error };
      throw error;
    }
  };
  const limits = { ...LIMITS, ...deps.limits };
  try {
    return await deliver({ ...deps, onSend, limits });
  } catch (error) {
    if (refusal !== null) throw (refusal as { readonly error: unknown }).error;
    return { ok: false, answer: error instanceof TargetRefused ? error.text : toReason(error) };
  }
}

/** A limit that was exceeded. */
export class TimedOut extends Error {
  constructor(readonly limit: 'connect' | 'exchange') {
    super('timed-out');
    this.name = 'TimedOut';
  }
}

/** The error of a connection that the other side closed too early. */
export function toReset(): Error {
  return Object.assign(new Error('closed-early'), { code: 'ECONNRESET' });
}

/** Where to connect to. */
export interface Endpoint {
  /** Name or address as the owner typed it: the certificate must be valid for it. */
  readonly host: string;
  readonly port: number;
  /** The checked addresses of the host. No other one is used. */
  readonly addresses: readonly Address[];
  /** Null for a connection without encryption. */
  readonly tls: { readonly authorities: readonly string[] | undefined; readonly protocols?: readonly string[] } | null;
}

/** Time for one of several addresses before the next one is tried. Node's own 250 ms are too short for far networks. */
const ATTEMPT_MS = 2500;

/** A connection to a target. */
export interface Connection {
  readonly socket: Socket;
  /** The TCP connection that carries TLS; without TLS, the same as `socket`. */
  readonly tcp: Socket;
}

/**
 * Connects to one of the addresses, with TLS if requested. The other side may end first; the caller ends or destroys.
 * @throws TimedOut, or the system's or the TLS library's error
 */
export async function connectTo(
  { host, port, addresses, tls: trust }: Endpoint,
  connectMs: number,
): Promise<Connection> {
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isName = isIP(name) === 0;
  const tcp = connect({
    ...{ port, allowHalfOpen: true, noDelay: true, autoSelectFamilyAttemptTimeout: ATTEMPT_MS },
    // An address is not looked up.
    ...(isName ? { host: name, lookup: toLookup(addresses) } : { host: addresses[0]?.text ?? '' }),
  });
  let socket = tcp;
  const timer = setTimeout(() => socket.destroy(new TimedOut('connect')), connectMs);
  try {
    await waitFor('connect', tcp);
    if (trust !== null) {
      // Not earlier: each attempt of another address has a socket of its own.
      socket = tls.connect({
        ...{ socket: tcp, secureContext: toSecureContext(trust.authorities), rejectUnauthorized: true },
        // The name in the handshake may not be an address (RFC 6066 section 3).
        ...(isName ? { servername: name } : {}),
        checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(name, certificate),
        ...(trust.protocols === undefined ? {} : { ALPNProtocols: [...trust.protocols] }),
      });
      await waitFor('secureConnect', socket);
    }
    return { socket, tcp };
  } catch (error) {
    socket.destroy();
    tcp.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function waitFor(event: 'connect' | 'secureConnect', socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once('close', () => reject(toReset()));
    // Stays: the next step reports an error that occurs between two steps.
    socket.on('error', reject);
  });
}

function toLookup(addresses: readonly Address[]): LookupFunction {
  const all = addresses.map(({ text, family }) => ({ address: text, family }));
  return (_host, options, done) => {
    const [first] = all;
    if (options.all) done(null, all);
    else if (first !== undefined) done(null, first.address, first.family);
  };
}

/** Reading the built-in authorities takes longer than a handshake, so each context is created once. */
const contexts = new Map<string, tls.SecureContext>();

/** Returns which certificates are trusted: those of the built-in authorities and of the provider's. */
function toSecureContext(authorities: readonly string[] = []): tls.SecureContext {
  const key = authorities.join('\n');
  let context = contexts.get(key);
  if (context === undefined) {
    const ca = authorities.length === 0 ? {} : { ca: listAuthorities(authorities) };
    context = tls.createSecureContext({ ...ca, minVersion: 'TLSv1.2' });
    contexts.set(key, context);
  }
  return context;
}

/**
 * Returns the authorities that Node trusts without a list, and further ones. Releases before 22.15 tell only Mozilla's,
 * without those of the environment.
 */
export function listAuthorities(further: readonly string[]): string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: (type: 'default') => readonly string[] };
  return [...(getCACertificates?.('default') ?? tls.rootCertificates), ...further];
}

const REASON_MAX = 120;
/** Codes of OpenSSL's and Node's checks of a certificate. Those that begin with ERR_SSL are errors of the protocol. */
const CERTIFICATE_CODE =
  /^(?:ERR_TLS_CERT|(?!ERR_).*(?:CERT|CRL|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH))/;

/** Returns why nothing was delivered, without the address, which may contain a secret. */
function toReason(error: unknown): ServerText {
  const { name, code } = error as { readonly name?: string; readonly code?: unknown };
  if (error instanceof TimedOut || code === 'ETIMEDOUT') {
    return error instanceof TimedOut && error.limit === 'exchange'
      ? 'The service did not answer within 30 seconds.'
      : 'The service did not answer within 10 seconds.';
  }
  if (code === 'ECONNREFUSED') return 'Nothing answers at this address.';
  if (code === 'CERT_HAS_EXPIRED') return 'The certificate of the service has expired.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'The certificate of the service is for another name.';
  if (typeof code === 'string' && CERTIFICATE_CODE.test(code)) {
    return 'The certificate of the service can’t be trusted.';
  }
  return serverMessage('alert_connection_failed', { code: plainText(String(code ?? name ?? ''), REASON_MAX) });
}
