import { plainText } from '../lib/plain-text.js';
import { english } from '../texts/language.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { Mailer } from './mailer.js';

const REASON_MAX = 200;

/** Sends mails the way the site's WordPress sends its own. */
export function wordpressMailer(client: Pick<ConnectorClient, 'sendMail'>): Mailer {
  return {
    async send(site, mail) {
      try {
        const fault = await client.sendMail(site, mail);
        if (fault === null) return { kind: 'sent' };
        const said = plainText(fault.trim(), REASON_MAX);
        return {
          kind: 'refused',
          reason:
            said === ''
              ? english.translate('WordPress could not send the mail.')
              : english.translate('WordPress said: {answer}', { answer: said }),
        };
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return { kind: error.mayBeDone ? 'unclear' : 'refused', reason: plainText(error.detail, REASON_MAX) };
      }
    },
  };
}
