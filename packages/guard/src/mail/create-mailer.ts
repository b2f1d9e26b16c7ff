import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { Config } from '../config/config.js';
import { plainText } from '../lib/plain-text.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { Mailer } from './mailer.js';
import { createSmtpMailer } from './smtp-mailer.js';

const REASON_MAX = 200;

/** Creates a mailer that uses the SMTP server of the configuration or, without one, each site's WordPress. */
export function createMailer({ smtp }: Config['mail'], wordpress: Pick<ConnectorClient, 'sendMail'>): Mailer {
  return smtp === null ? createWordPressMailer(wordpress) : createSmtpMailer(smtp);
}

/** Creates a mailer that sends through the site's WordPress. */
export function createWordPressMailer(client: Pick<ConnectorClient, 'sendMail'>): Mailer {
  return {
    async send(site, mail, onSend) {
      await onSend?.();
      try {
        const fault = await client.sendMail(site, mail);
        if (fault === null) return { kind: 'sent' };
        const detail = plainText(fault.trim(), REASON_MAX);
        return {
          kind: 'refused',
          reason:
            detail === '' ? 'WordPress could not send the mail.' : serverMessage('wordpress_said', { answer: detail }),
        };
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return { kind: error.mayBeDone ? 'unclear' : 'refused', reason: error.explanation };
      }
    },
  };
}
