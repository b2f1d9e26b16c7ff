import type { HardeningItem } from '@security-optimizer/contract/overview';
import type { SiteSettings } from '../settings/site-settings.js';
import { type Essential, essentialsOf } from './essentials.js';

/** A card for each page with essentials, and how many of them are on. Nothing is weighed. */
export function hardeningOf(settings: SiteSettings, admin: (page: string) => string): HardeningItem[] {
  const essentials = essentialsOf(settings);
  const card = (id: Essential['page'], title: string, icon: string, text: string): HardeningItem => {
    const own = essentials.filter(({ page }) => page === id);
    const on = own.filter((essential) => essential.on).length;
    return {
      id,
      title,
      text: on === own.length ? 'Everything recommended is on.' : text,
      icon,
      button_link: admin(`admin.php?page=${id}`),
      button_text: 'Open',
      on,
      total: own.length,
    };
  };
  return [
    card('site-security', 'Site Security', 'site', 'Close the gaps that malware and known exploits use.'),
    card('login-settings', 'Login Security', 'key', 'Keep strangers and bots away from your login page.'),
  ];
}
