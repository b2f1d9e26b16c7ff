import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { SmtpServer } from '../../src/config/config.js';

interface ReceivedMail {
  readonly from: string | false;
  readonly to: readonly string[];
  readonly user: unknown;
  readonly message: string;
}

/** A real mail server on this machine, closed after the test. */
export async function mailServer(options: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : false,
          to: rcptTo.map(({ address }) => address),
          user: session.user ?? null,
          message: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { received, server: smtpAt((server.server.address() as AddressInfo).port) };
}

/** The configuration of a mail server on this machine. */
export function smtpAt(port: number): SmtpServer {
  return { host: '127.0.0.1', port, secure: false, login: null, from: 'Reports <reports@example.com>' };
}
