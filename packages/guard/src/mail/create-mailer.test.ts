import { describe, expect, it } from 'vitest';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { siteConfig } from '../../test/support/site-config.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { createWordPressMailer } from './create-mailer.js';

const mail = { to: 'anna@example.com', subject: 'Report', html: '<p>Hello</p>', text: 'Hello' };

async function mailing(responseTimeoutMs = 20_000) {
  const connector = await fakeConnector();
  const client = createConnectorClient({ clock: Date.now, facts: () => null, responseTimeoutMs });
  const site = siteConfig({ upstream: connector.upstream });
  return { connector, send: () => createWordPressMailer(client).send(site, mail) };
}

describe('mails by WordPress', () => {
  it('are passed to the connector unchanged', async () => {
    const { connector, send } = await mailing();
    expect(await send()).toEqual({ kind: 'sent' });
    expect(connector.mails).toEqual([mail]);
  });

  it('that WordPress refuses may be tried again, and the reason is one line of plain text', async () => {
    const { connector, send } = await mailing();
    connector.mailFault = 'SMTP error:\n\u202eno\u0007';
    expect(await send()).toMatchObject({
      kind: 'refused',
      reason: { english: 'WordPress said: SMTP error:\\u000a\\u202eno\\u0007' },
    });
    connector.mailFault = '';
    expect(await send()).toEqual({ kind: 'refused', reason: 'WordPress could not send the mail.' });
  });

  it('may be tried again when WordPress or the connector could not be reached', async () => {
    const { connector, send } = await mailing();
    for (const mode of ['broken', 'gone'] as const) {
      connector.mode = mode;
      expect(await send()).toMatchObject({ kind: 'refused' });
    }
    await connector.close();
    expect(await send()).toMatchObject({
      kind: 'refused',
      reason: { english: expect.stringContaining('connection refused') },
    });
  });

  it('may have been sent when there was no response', async () => {
    const { connector, send } = await mailing(300);
    connector.mode = 'slow';
    expect(await send()).toMatchObject({ kind: 'unclear', reason: { english: expect.stringContaining('no answer') } });
  });
});
