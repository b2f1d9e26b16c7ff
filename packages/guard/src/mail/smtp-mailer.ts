import { isIP } from 'node:net';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { SmtpServer } from '../config/config.js';
import { plainText } from '../lib/plain-text.js';
import type { Mail, Mailer, MailOutcome } from './mailer.js';

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
const REASON_MAX = 200;

/**
 * Creates a mailer that uses SMTP (RFC 5321), one connection per mail. The libraries are loaded with the first mail.
 */
export function createSmtpMailer(server: SmtpServer): Mailer {
  return { send: (_site, mail, onSend) => sendBySmtp(server, mail, onSend) };
}

/**
 * Checks whether a mail server responds and accepts guard's login; no mail is sent.
 * @param timeoutMs for each step
 * @returns the reason if it does not, or null
 */
export async function findSmtpFault(server: SmtpServer, timeoutMs: number): Promise<ServerText | null> {
  const connection = await createConnection(server, timeoutMs);
  try {
    await open(connection, server);
    connection.quit();
    return null;
  } catch (error) {
    connection.close();
    return toReason(server.host, error);
  }
}

async function createConnection({ host, port, secure, login }: SmtpServer, connectMs: number, silenceMs = connectMs) {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  return new SMTPConnection({
    ...{ host, port, secure },
    // A password is sent without TLS only within this machine.
    requireTLS: !secure && login !== null && !isLocal(host),
    opportunisticTLS: login === null || isLocal(host),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
  });
}

type Connection = Awaited<ReturnType<typeof createConnection>>;

/** Connects, greets, and logs in if a login is configured. */
async function open(connection: Connection, { login }: SmtpServer): Promise<void> {
  await step(connection, (done) => connection.connect(done));
  if (login !== null) {
    await step(connection, (done) => connection.login({ user: login.user, pass: login.password }, done));
  }
}

async function sendBySmtp(server: SmtpServer, mail: Mail, onSend?: () => Promise<void>): Promise<MailOutcome> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const node = new MailComposer({
    ...mail,
    from: server.from,
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const connection = await createConnection(server, CONNECT_MS, SILENCE_MS);
  let sendStarted = false;
  try {
    const message = await node.build();
    const { from, to } = node.getEnvelope();
    await open(connection, server);
    await onSend?.().catch((error: unknown) => {
      throw new NotToBeSent(error);
    });
    sendStarted = true;
    await step(connection, (done) => connection.send({ from, to }, message, done));
    connection.quit();
    return { kind: 'sent' };
  } catch (error) {
    connection.close();
    if (error instanceof NotToBeSent) throw error.cause;
    // A response of the server means that it did not accept the mail.
    const hasResponse = typeof (error as { responseCode?: unknown }).responseCode === 'number';
    return { kind: sendStarted && !hasResponse ? 'unclear' : 'refused', reason: toReason(server.host, error) };
  }
}

/** The caller has decided at the last moment that the mail is not sent. */
class NotToBeSent extends Error {
  constructor(cause: unknown) {
    super('not-to-be-sent', { cause });
  }
}

/** Runs one step of the SMTP dialogue. An error is reported by the callback or as an event, whichever is first. */
function step(
  connection: { once(event: 'error', listener: (error: Error) => void): unknown },
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once('error', reject);
    begin((error) => (error ? reject(error) : resolve()));
  });
}

function toReason(host: string, error: unknown): ServerText {
  // The response of the server alone, if there is one.
  const { message, response: said } = error as { message?: string; response?: string };
  const response = said ?? message ?? 'unknown error';
  return serverMessage('mail_server_refused', { host, answer: plainText(response, REASON_MAX) });
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
