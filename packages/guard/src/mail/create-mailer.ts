import type { Config } from '../config/config.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import type { Mailer } from './mailer.js';
import { createSmtpMailer } from './smtp-mailer.js';
import { createWordPressMailer } from './wordpress-mailer.js';

/** Sends by the SMTP server of the configuration; without one, through each site's WordPress. */
export function createMailer({ smtp }: Config['mail'], wordpress: Pick<ConnectorClient, 'sendMail'>): Mailer {
  return smtp === null ? createWordPressMailer(wordpress) : createSmtpMailer(smtp);
}
