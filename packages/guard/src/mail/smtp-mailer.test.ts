import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mailServer, smtpAt } from '../../test/support/mail-server.js';
import { siteConfig } from '../../test/support/site-config.js';
import type { Mail } from './mailer.js';
import { createSmtpMailer } from './smtp-mailer.js';

const site = siteConfig();
const mail: Mail = {
  to: 'anna@example.com',
  subject: 'Weekly report for example.com, 9 – 15 November',
  html: '<p>A quiet week – näher</p>',
  text: 'A quiet week – näher',
};

/** A server that only replies as the test says. */
async function scripted(talk: (socket: Socket, line: string) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 ready\r\n');
    socket.on('data', (data) => {
      for (const line of data.toString().split('\r\n')) if (line !== '') talk(socket, line);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return smtpAt((server.address() as AddressInfo).port);
}

describe('mails by SMTP', () => {
  it('are sent with HTML and text, from the configured sender', async () => {
    const { server, received } = await mailServer();
    expect(await createSmtpMailer(server).send(site, mail)).toEqual({ kind: 'sent' });
    expect(received).toMatchObject([{ from: 'reports@example.com', to: ['anna@example.com'], user: null }]);
    const message = received[0]?.message ?? '';
    expect(message).toMatch(/^From: Reports <reports@example\.com>\r$/m);
    expect(message).toMatch(/^To: anna@example\.com\r$/m);
    expect(message).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(message).toContain('multipart/alternative');
    expect(message).toMatch(/text\/plain[\s\S]*A quiet week =E2=80=93 n=C3=A4her[\s\S]*text\/html/);
  });

  it('log in where the server requires it, and report a refused login', async () => {
    const { server, received } = await mailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'guard' && password === 'right' ? done(null, { user: username }) : done(new Error('No')),
    });
    const as = (password: string) =>
      createSmtpMailer({ ...server, login: { user: 'guard', password } }).send(site, mail);
    expect(await as('right')).toEqual({ kind: 'sent' });
    expect(received[0]?.user).toBe('guard');
    const refused = await as('wrong');
    expect(refused).toMatchObject({
      kind: 'refused',
      reason: { english: expect.stringMatching(/^The mail server 127\.0\.0\.1 /) },
    });
    expect(JSON.stringify(refused)).not.toContain('wrong');
  });

  it('never send a password in cleartext to another machine', async () => {
    const seen: string[] = [];
    const server = await scripted((socket, line) => {
      seen.push(line);
      socket.write(line.startsWith('EHLO') ? '250-here\r\n250 AUTH PLAIN LOGIN\r\n' : '500 what\r\n');
    });
    // A name that this machine responds to, but that is not recognised as its own.
    const elsewhere = { ...server, host: '0.0.0.0', login: { user: 'guard', password: 'secret' } };
    expect(await createSmtpMailer(elsewhere).send(site, mail)).toMatchObject({ kind: 'refused' });
    expect(seen).toContain('STARTTLS');
    expect(seen.join()).not.toMatch(/AUTH/);
  });

  it('that the server refuses are reported with its reason, in one line', async () => {
    const { server } = await mailServer({
      onRcptTo: (_address, _session, done) => done(new Error('no such\u0007 mailbox')),
    });
    const outcome = await createSmtpMailer(server).send(site, mail);
    expect(outcome).toMatchObject({ kind: 'refused', reason: { english: expect.stringContaining('no such') } });
    expect(JSON.stringify(outcome)).not.toContain('\u0007');
  });

  it('are refused when nothing listens, or when the server does not speak SMTP', async () => {
    const server = smtpAt(1);
    expect(await createSmtpMailer(server).send(site, mail)).toMatchObject({ kind: 'refused' });
    const closing = await scripted((socket) => socket.destroy());
    expect(await createSmtpMailer(closing).send(site, mail)).toMatchObject({ kind: 'refused' });
  });

  it('whose response was lost may have been delivered', async () => {
    let inMessage = false;
    const server = await scripted((socket, line) => {
      if (inMessage) {
        if (line === '.') socket.destroy();
        return;
      }
      inMessage = line === 'DATA';
      socket.write(inMessage ? '354 go on\r\n' : '250 ok\r\n');
    });
    expect(await createSmtpMailer(server).send(site, mail)).toMatchObject({ kind: 'unclear' });
  });
});
