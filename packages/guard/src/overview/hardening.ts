import type { HardeningItem } from '@security-optimizer/contract/overview';
import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import type { SiteSettings } from '../settings/site-settings.js';

/** A card for each page with essentials, and what is still open there. The score counts what is on; nothing is weighed. */
export function hardeningOf(settings: SiteSettings, admin: (page: string) => string): HardeningItem[] {
  const site = siteSecurityToggles
    .filter(({ essential }) => essential)
    .map(({ field, title }) => ({ title, on: settings.options[field] === 1 }));
  const { login_url, sg2fa, disable_usernames, login_attempts } = settings.login;
  const login = [
    { title: 'Custom Login URL', on: login_url.type === 'custom' },
    { title: 'Two-factor Authentication', on: sg2fa === 1 },
    { title: 'Disable Common Usernames', on: disable_usernames === 1 },
    { title: 'Limit Login Attempts', on: login_attempts > 0 },
  ];
  return [
    card('site-security', 'Site Security', 'Close the gaps that malware and known exploits use.', 'site', site, admin),
    card('login-settings', 'Login Security', 'Keep strangers and bots away from your login page.', 'key', login, admin),
  ];
}

function card(
  slug: string,
  title: string,
  text: string,
  icon: string,
  essentials: readonly { readonly title: string; readonly on: boolean }[],
  admin: (page: string) => string,
): HardeningItem {
  const open = essentials.filter(({ on }) => !on).map((essential) => essential.title);
  return {
    id: slug,
    title,
    text: open.length === 0 ? 'Everything recommended is on.' : text,
    icon,
    button_link: admin(`admin.php?page=${slug}`),
    button_text: 'Open',
    on: essentials.length - open.length,
    total: essentials.length,
  };
}
