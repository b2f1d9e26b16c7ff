import { ApiError } from '../lib/api-error.js';
import type { Services } from '../services.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import { readSiteSettings } from '../settings/site-settings.js';
import type { SiteConfig } from '../site.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { postToProvider } from './technical-data.js';

export interface ConsentServices {
  readonly change: SettingChangeContext;
  readonly client: Pick<ConnectorClient, 'user'>;
  /** Addresses of the provider. */
  readonly urls: Services['config']['consent'];
}

/** The owner's consent; an undefined value does not change the stored one. */
export interface ConsentChoice {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly data: 0 | 1 | undefined;
  readonly email: 0 | 1 | undefined;
}

/**
 * Stores the consent. Both questions count as answered, and WordPress does not show them again. What nobody receives can't
 * be agreed to: without an address of the provider, the answer is stored as no.
 *
 * @throws ApiError when WordPress, the provider or the store can't take the change; then nothing is changed
 */
export async function setConsent(deps: ConsentServices, { site, actor, data, email }: ConsentChoice): Promise<void> {
  const { technicalDataUrl, emailUrl } = deps.urls;
  if (emailUrl !== null && email !== undefined) await subscribe(deps, emailUrl, { site, actor, email });
  await changeSettings(deps.change, { site, actor }, () => ({
    ...(data === undefined ? {} : { data_consent: technicalDataUrl === null ? 0 : data }),
    ...(email === undefined ? {} : { email_consent: emailUrl === null ? 0 : email }),
    consent_asked: 1,
  }));
}

/** Sends the provider the caller's e-mail address when the answer is yes, and when a yes is taken back. */
async function subscribe(
  { change, client }: ConsentServices,
  url: string,
  { site, actor, email }: { readonly site: SiteConfig; readonly actor: Actor; readonly email: 0 | 1 },
): Promise<void> {
  const { overview } = await readSiteSettings(change.settings, site.id);
  if (email === overview.email_consent) return;
  const user = actor.id === null ? null : await client.user(site, actor.id);
  try {
    await postToProvider(url, { email: user?.email ?? '', agreed: email === 1 });
  } catch (cause) {
    throw new ApiError('provider_unreachable', { cause });
  }
}
