import { isIP } from 'node:net';
import { plainText } from '../lib/plain-text.js';
import { english } from '../texts/language.js';
import type { Mail, Mailer, MailOutcome } from './mailer.js';

/** A mail server that takes guard's mails. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Encrypted from the first byte (RFC 8314); else by STARTTLS, as soon as the server offers it. */
  readonly secure: boolean;
  /** Null when the server asks for no log-in. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** Address that mails come from, with or without a name: `Reports <reports@example.com>`. */
  readonly from: string;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
const REASON_MAX = 200;

/** Sends mails by SMTP (RFC 5321), one connection for each. What it needs is loaded with the first mail. */
export function smtpMailer(server: SmtpServer): Mailer {
  return { send: (_site, mail) => sendBySmtp(server, mail) };
}

async function sendBySmtp(server: SmtpServer, mail: Mail): Promise<MailOutcome> {
  const [{ default: SMTPConnection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/mail-composer'),
  ]);
  const { host, port, secure, login } = server;
  const node = new MailComposer({
    ...mail,
    from: server.from,
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const connection = new SMTPConnection({
    ...{ host, port, secure },
    // A password never travels in the clear but within this machine.
    requireTLS: !secure && login !== null && !isLocal(host),
    opportunisticTLS: login === null || isLocal(host),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
  let handedOver = false;
  try {
    const message = await node.build();
    const { from, to } = node.getEnvelope();
    await step(connection, (done) => connection.connect(done));
    if (login !== null) {
      await step(connection, (done) => connection.login({ user: login.user, pass: login.password }, done));
    }
    handedOver = true;
    await step(connection, (done) => connection.send({ from, to }, message, done));
    connection.quit();
    return { kind: 'sent' };
  } catch (error) {
    connection.close();
    // An answer of the server says that it did not take the mail.
    const answered = typeof (error as { responseCode?: unknown }).responseCode === 'number';
    return { kind: handedOver && !answered ? 'unclear' : 'refused', reason: reasonOf(host, error) };
  }
}

/** One step of the conversation; faults come by the callback or as an event, whichever is first. */
function step(
  connection: { once(event: 'error', listener: (error: Error) => void): unknown },
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once('error', reject);
    begin((error) => (error ? reject(error) : resolve()));
  });
}

function reasonOf(host: string, error: unknown): string {
  const { message } = error as { message?: string };
  const answer = message ?? 'unknown error';
  return plainText(english.translate('The mail server {host} did not take it: {answer}', { host, answer }), REASON_MAX);
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
